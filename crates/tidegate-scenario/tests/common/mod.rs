//! A scenario that uses most of the language, for several tests.

/// Loads and checks without a word.
pub(crate) const WIDE: &str = r#"# A comment at the top
title = "wide"                  # and one beside
duration = "60 s"
warmup = "5 s"
seed = 7
runs = 3
exact = true

[gate.access]
per = "flow"
duplex = true
rate = "100 Mbps"
delay = "1 ms"
host = true

[gate.token]
rate.token_bucket = { rate = "4 Mbit/s", burst = "10 kB", peak = "10 Mbit/s" }
framing = { overhead = "38 B", minimum = "84 B" }

[gate.steps]
rate.steps = [["0 s", "5000 packets/s"], ["6 s", "0 packets/s"], ["7 s", "1000.5 packets/s"]]
on_change = "keep"
queue = { limit = "64 KiB", counts = "all" }

[gate.chain]
rate.markov.rates = ["100 kB/s", "50 kB/s"]
rate.markov.mean_holding = ["360 ms", "360 ms"]
rate.markov.step = "30 ms"
loss.gilbert_elliott = { good_to_bad = "1%", bad_to_good = 0.5 }

[gate.recorded]
rate.trace = { file = "bad_input/traces/good.drp", at_end = "stop" }
loss = 0.01
delay = "10 ms"

[gate.return]
rate = "512 kbit/s"
delay = "3 ms"

[tcp.model]
base = "bsd44"
mss = "500 B"
window = "20 segments"

[flow.client]
count = 2
path = ["access", "token", "chain"]
back = ["return", "access"]
rtt = "40 ms"
start.uniform = ["0 s", "100 ms"]
app.transfer = "1 MB"
tcp.use = "model"
tcp.cc = "tahoe"
tcp.rto.tick = "100 ms"

[flow.single]
path = ["access", "recorded", "steps"]
app.on_off = { rate = "1 Mbit/s", on = "1 s", off.exponential = "2 s" }
tcp = { base = "linux", dupthresh = "never", delayed_ack = false }

[traffic.bg]
path = ["access", "chain"]
count = 2
source.poisson = { rate = "100 kbit/s", packet = "200 B" }

[record]
every = "10 ms"
chain = ["queue_packets"]
client = ["cwnd_segments"]
packets = true

[limits]
events = 1000000
memory = "1 GB"

[[sweep]]
"gate.chain.rate.markov.mean_holding" = [["360 ms", "360 ms"], ["7.2 s", "7.2 s"]]

[[sweep]]
"flow.client.tcp.cc" = ["reno", "cubic", "tahoe"]
"gate.steps.queue" = ["64 KiB", "128 KiB", "unlimited"]
"#;
