"""Files of iperf3, flent and ndt7, as small as they can be."""

from __future__ import annotations

IPERF = {
    "start": {"test_start": {"protocol": "TCP"}, "tcp_mss_default": 1448},
    "end": {
        "streams": [
            {
                "sender": {
                    "start": 0,
                    "bytes": 1_180_000,
                    "bits_per_second": 9.44e6,
                    "seconds": 1.0,
                    "retransmits": 6,
                    "mean_rtt": 40_000,
                },
                "receiver": {"bytes": 1_170_000, "bits_per_second": 9.36e6, "seconds": 1.0},
            }
        ]
    },
}
FLENT = {
    "metadata": {},
    "x_values": [0.2, 0.4, 0.6],
    "results": {"TCP download": [9.4, None, 9.4], "Ping (ms) ICMP": [90.0, None, 91.0]},
}
NDT = {
    "Download": {
        "UUID": "a",
        "ServerMeasurements": [
            {"TCPInfo": {"ElapsedTime": 100_000, "BytesAcked": 1000, "BytesReceived": 900, "RTT": 30_000}},
            {
                "TCPInfo": {
                    "ElapsedTime": 1_000_000,
                    "BytesAcked": 1_170_000,
                    "BytesReceived": 900,
                    "BytesSent": 1_180_000,
                    "BytesRetrans": 11_800,
                    "RTT": 50_000,
                }
            },
        ],
    }
}
