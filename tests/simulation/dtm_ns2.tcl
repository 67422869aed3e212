# ns-2: DTM channels whose slots follow TCP (Abrahamsson, Hagsand, Marsh: Figs. 3 and 7), as
# benches/dtm_ns2.py runs them beside ours.
#
#   ns dtm_ns2.tcl KEY VALUE ...
#
#   topology  fig3: one flow over 10 / 5 / channel / 10 Mbit/s
#             fig7: two flows, each behind its own 5 Mbit/s, over 100 Mbit/s / channel / 10 Mbit/s
#   tcp       Tahoe, Reno or Newreno
#   starts    seconds, one for each flow
#   duration  seconds, counted from `warmup` on
#   own       packets that wait before 5 Mbit/s
#   queue     packets that wait before the channel
#   delays    milliseconds of the four hops
#   dynamic   1: the channel follows its traffic; 0: it stays at `initial`
#   initial   bit/s of the channel before the first update
#   shift_dec slower decrease: the paper's second remedy
#
# One line of key=value pairs: goodput of each flow in bit/s, mean slots, changes, drops.

array set option {
    topology fig3 tcp Newreno starts 0.0 duration 100.0 warmup 20.0 own 50 queue 50
    delays {10 10 10 10} dynamic 1 initial 10000000 shift_dec 3
}
array set option $argv

set sim [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 10000
Agent/TCPSink set packetSize_ 40

set slot 512000
set margin 384000
set corridor 1024000

# One direction. DropTail refuses a packet when the queue's length plus one reaches the limit:
# a limit of L holds L - 1 packets that wait.
proc line {from to rate delay {waiting 100000}} {
    global sim
    $sim simplex-link $from $to $rate [expr {$delay / 1000.0}] DropTail
    $sim queue-limit $from $to [expr {$waiting + 1}]
}

proc both {from to rate delay {waiting 100000}} {
    line $from $to $rate $delay $waiting
    line $to $from $rate $delay
}

proc flow {from to at} {
    global sim option
    set tcp [expr {$option(tcp) eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$option(tcp)]}]
    set sink [new Agent/TCPSink]
    $sim attach-agent $from $tcp
    $sim attach-agent $to $sink
    $sim connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    $sim at $at "$source start"
    return $tcp
}

# Fig. 1. `current` is whole bit/s; the bounds are compared in bit/s, which is the same.
proc measure {} {
    global sim option channel door seen current tick undecided upper lower margin corridor slot decisions
    set now [$door set barrivals_]
    set new [expr {int($now - $seen) * 80}]
    set seen $now
    if {$new < $current} {
        set current [expr {$current - (($current - $new) >> $option(shift_dec))}]
    } else {
        set current [expr {$current + (($new - $current) >> 3)}]
    }
    incr tick
    if {$tick % 10 == 0 && ($undecided || $current > $upper || $current < $lower)} {
        set undecided 0
        set allocated [expr {max($current + $margin + $corridor / 2, $slot)}]
        set upper [expr {$allocated - $margin}]
        set lower [expr {$upper - $corridor}]
        incr decisions
        set_rate $allocated
    }
    $sim at [expr {($tick + 1) / 10.0}] measure
}

# Keeps the area under the rate, from the end of the warm-up on.
proc set_rate {rate} {
    global sim option channel area since inforce changes
    set at [$sim now]
    if {$at > $option(warmup)} {
        set area [expr {$area + $inforce * ($at - max($since, $option(warmup)))}]
    }
    if {$at >= $option(warmup) && $rate != $inforce} { incr changes }
    set since $at
    set inforce $rate
    [$channel link] set bandwidth_ $rate
}

set d $option(delays)
set n3 [$sim node]
set n4 [$sim node]
line $n3 $n4 $option(initial) [lindex $d 2] $option(queue)
line $n4 $n3 512kb [lindex $d 2]
set senders {}
if {$option(topology) eq "fig3"} {
    foreach i {1 2 5} { set n($i) [$sim node] }
    both $n(1) $n(2) 10Mb [lindex $d 0]
    both $n(2) $n3 5Mb [lindex $d 1] $option(own)
    both $n4 $n(5) 10Mb [lindex $d 3]
    lappend senders [flow $n(1) $n(5) [lindex $option(starts) 0]]
} else {
    set n2 [$sim node]
    both $n2 $n3 100Mb [lindex $d 1]
    foreach at $option(starts) {
        set from [$sim node]
        set own [$sim node]
        set to [$sim node]
        both $from $own 10Mb 0
        both $own $n2 5Mb [lindex $d 0] $option(own)
        both $n4 $to 10Mb [lindex $d 3]
        lappend senders [flow $from $to $at]
    }
}

set channel [$sim link $n3 $n4]
set door [$sim monitor-queue $n3 $n4 ""]
set seen 0
set current 0
set tick 0
set undecided 1
set upper 0
set lower 0
set decisions 0
set changes 0
set area 0.0
set since 0.0
set inforce $option(initial)
if {$option(dynamic)} { $sim at 0.1 measure }

proc acknowledged {} {
    global senders
    set list {}
    foreach tcp $senders { lappend list [expr {[$tcp set ack_] + 1}] }
    return $list
}

proc begin {} {
    global begun door drops timeouts
    set begun [acknowledged]
    set drops [$door set pdrops_]
    set timeouts [timeouts]
}

proc timeouts {} {
    global senders
    set sum 0
    foreach tcp $senders { incr sum [$tcp set nrexmit_] }
    return $sum
}

proc report {} {
    global option senders begun door drops timeouts area since inforce slot changes
    set span [expr {$option(duration) - $option(warmup)}]
    set goodput {}
    foreach now [acknowledged] before $begun {
        lappend goodput [format %.1f [expr {($now - $before) * 8000.0 / $span}]]
    }
    set all [expr {$area + $inforce * ($option(duration) - max($since, $option(warmup)))}]
    puts "goodput_bps=[join $goodput ,] slots_mean=[format %.4f [expr {$all / $span / $slot}]] changes=$changes drops=[expr {[$door set pdrops_] - $drops}] timeouts=[expr {[timeouts] - $timeouts}]"
    exit 0
}

$sim at $option(warmup) begin
$sim at $option(duration) report
$sim run
