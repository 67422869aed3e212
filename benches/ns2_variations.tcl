# ns-2: the peers' scenarios with one thing varied, for comparisons of results (no tracing).
#
#   ns ns2_variations.tcl s1  TCP MILLISECONDS   delay of the bottleneck hop (10: as the peers' s1)
#   ns ns2_variations.tcl s3  TCP MICROSECONDS   added to every round-trip time (0: as the peers' s3)
#   ns ns2_variations.tcl s3k TCP MICROSECONDS   the same with 1000 flows
#
# TCP is Newreno, Reno or Tahoe. One line of key=value pairs, as the example program "peers"
# of tidegate-sim prints it.

set scenario [lindex $argv 0]
set variant [lindex $argv 1]
set vary [lindex $argv 2]

set sim [new Simulator]
$sim rtproto Manual
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 1000000
Agent/TCPSink set packetSize_ 40

set lost [new Agent/LossMonitor]
set senders {}

# A link in both directions; queues in packets.
proc line {a b rate delay there back} {
    global sim
    $sim duplex-link $a $b $rate $delay DropTail
    $sim queue-limit $a $b $there
    $sim queue-limit $b $a $back
}

proc manual {node} { return [$node get-module "Manual"] }
proc default_route {node via} { [manual $node] add-route-to-adj-node -default $via }
proc route_to {node neighbour} { [manual $node] add-route-to-adj-node $neighbour }
proc route_beyond {node target via} {
    global sim
    [$node entry] install [$target id] [[$sim link $node $via] head]
}

proc start_flow {from to at} {
    global sim senders variant
    set tcp [expr {$variant eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$variant]}]
    set sink [new Agent/TCPSink]
    $sim attach-agent $from $tcp
    $sim attach-agent $to $sink
    $sim connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    $sim at $at "$source start"
    lappend senders $tcp
}

if {$scenario eq "s1"} {
    set seconds 200.0
    set rate 5e6
    foreach i {0 1 2 3 4} { set n($i) [$sim node] }
    line $n(0) $n(1) 10Mb 10ms 1000 1000
    line $n(1) $n(2) 5Mb [expr {$vary / 1000.0}] 50 1000
    line $n(2) $n(3) 10Mb 10ms 1000 1000
    line $n(3) $n(4) 10Mb 10ms 1000 1000
    [[$sim link $n(1) $n(2)] queue] drop-target $lost
    default_route $n(0) $n(1)
    default_route $n(4) $n(3)
    foreach i {1 2 3} {
        default_route $n($i) $n([expr {$i + 1}])
        route_to $n($i) $n([expr {$i - 1}])
        if {$i > 1} { route_beyond $n($i) $n(0) $n([expr {$i - 1}]) }
    }
    start_flow $n(0) $n(4) 0.0
} else {
    set seconds 20.0
    set rate 1e9
    set flows [expr {$scenario eq "s3" ? 100 : 1000}]
    set left [$sim node]
    set right [$sim node]
    line $left $right 1Gb 1ms 2917 1000000
    [[$sim link $left $right] queue] drop-target $lost
    default_route $left $right
    default_route $right $left
    for {set i 0} {$i < $flows} {incr i} {
        set from [$sim node]
        set to [$sim node]
        set rtt [expr {0.020 + 0.100 * $i / ($flows - 1.0) + $vary * 1e-6}]
        line $from $left 1Gb [expr {$rtt / 2.0 - 0.002}] 100000 100000
        line $right $to 1Gb 0.001 100000 100000
        default_route $from $left
        default_route $to $right
        route_to $left $from
        route_to $right $to
        start_flow $from $to [expr {1.0 * $i / $flows}]
    }
}

proc report {} {
    global senders lost scenario variant vary seconds rate
    foreach what {delivered sent rexmit timeouts} { set $what 0 }
    foreach tcp $senders {
        incr delivered [expr {[$tcp set ack_] + 1}]
        incr sent [$tcp set ndatapack_]
        incr rexmit [$tcp set nrexmitpack_]
        incr timeouts [$tcp set nrexmit_]
    }
    set util [format %.4f [expr {$delivered * 12000.0 / $seconds / $rate}]]
    puts "peer=ns-2 scen=$scenario tcp=$variant vary=$vary dur=$seconds delivered=$delivered sent=$sent rexmit=$rexmit timeouts=$timeouts drops=[$lost set npkts_] util=$util"
    exit 0
}
$sim at $seconds report
$sim run
