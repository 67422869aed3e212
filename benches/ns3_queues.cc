// The dumbbell of queues.py in ns-3 (measured with 3.37): five flows over one link, whose queue has a discipline. With
// --chain=1 it is s1 instead: one flow over 10, 5, 10 and 10 Mbit/s of 10 ms each, and the discipline before the second.
// With --dctcp=RTT it is one DCTCP flow over 50 Mbit/s and RTT ms; the discipline is CoDel with a CE threshold of 1 ms.
//
//   ns3_queues --aqm=fifo|red|codel|pie|fq_codel [--ecn=1] [--derandomize=1] [--offset=MS] [--seconds=60] [--warmup=10]
//              [--tcp=HalfOfWindow] [--chain=1] [--dctcp=10] [--device=1]
//
// HalfOfWindow is ns-3's NewReno, but a loss leaves half of the window, as RFC 5681 has it for a window that is used up.
// ns-3's own (--tcp=TcpNewReno) leaves half of what is in flight without what was SACKed or lost, about two packets less.
//
// It prints one line of key=value pairs. Delays are from the arrival in the queue to the start of the transmission, of
// packets that are sent. The device below the discipline holds one packet, the least that ns-3 allows; with --device=3 it
// holds three, under dynamic queue limits, as in ns-3's tcp-validation.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
using namespace ns3;

class HalfOfWindow : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ns3::HalfOfWindow").SetParent<TcpNewReno>().AddConstructor<HalfOfWindow>();
        return id;
    }
    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        return std::max(2 * state->m_segmentSize, state->m_cWnd.Get() / 2);
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<HalfOfWindow>(this); }
};
NS_OBJECT_ENSURE_REGISTERED(HalfOfWindow);

static Time g_warmup;
static uint64_t g_drops = 0, g_marks = 0;
static std::vector<double> g_delays;

static bool Counts() { return Simulator::Now() >= g_warmup; }
// When a packet joined the queue. A tag stays with its packet through discipline and device; one that is sent again has none.
class ArrivalTag : public Tag
{
  public:
    Time at;
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("ArrivalTag").SetParent<Tag>().AddConstructor<ArrivalTag>();
        return id;
    }
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 8; }
    void Serialize(TagBuffer buffer) const override { buffer.WriteU64(at.GetTimeStep()); }
    void Deserialize(TagBuffer buffer) override { at = TimeStep(buffer.ReadU64()); }
    void Print(std::ostream& out) const override { out << at; }
};

static void OnEnqueue(Ptr<const QueueDiscItem> item)
{
    ArrivalTag arrival;
    arrival.at = Simulator::Now();
    item->GetPacket()->AddPacketTag(arrival);
}
static void OnDrop(Ptr<const QueueDiscItem>) { g_drops += Counts(); }
static void OnMark(Ptr<const QueueDiscItem>, const char*) { g_marks += Counts(); }
static void OnSent(Ptr<const Packet> packet)
{
    ArrivalTag arrival;
    if (Counts() && packet->PeekPacketTag(arrival)) g_delays.push_back((Simulator::Now() - arrival.at).GetSeconds());
}

int main(int argc, char* argv[])
{
    std::string aqm = "fifo", tcp = "HalfOfWindow";
    bool ecn = false, derandomize = true, chain = false;
    uint32_t dctcp = 0, device = 1;
    double offset = 0, seconds = 60, warmup = 10;
    CommandLine cmd;
    cmd.AddValue("aqm", "the discipline", aqm);
    cmd.AddValue("tcp", "the congestion control", tcp);
    cmd.AddValue("ecn", "whether the endpoints use ECN, and the discipline marks", ecn);
    cmd.AddValue("derandomize", "whether PIE keeps its drops apart", derandomize);
    cmd.AddValue("chain", "whether it is s1", chain);
    cmd.AddValue("dctcp", "round trip in ms of one DCTCP flow", dctcp);
    cmd.AddValue("device", "packets below the discipline", device);
    cmd.AddValue("offset", "milliseconds between the starts of two flows", offset);
    cmd.AddValue("seconds", "simulated time", seconds);
    cmd.AddValue("warmup", "what is not counted", warmup);
    cmd.Parse(argc, argv);
    g_warmup = Seconds(warmup);
    if (dctcp > 0)
    {
        aqm = "codel", tcp = "TcpDctcp", ecn = true;
        Config::SetDefault("ns3::CoDelQueueDisc::CeThreshold", TimeValue(MilliSeconds(1)));
    }

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + tcp)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(dctcp ? 1448 : 1460));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(dctcp ? 2 : 1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(32 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32 << 20));

    const uint32_t flows = chain || dctcp ? 1 : 5;
    NodeContainer routers(chain ? 3 : 2), senders(flows), receivers(flows);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");

    // A packet has two bytes more on ns-3's wire: so the rate is that of 1500 bytes at 20 Mbit/s.
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(chain ? "5006667bps" : dctcp ? "50066667bps" : "20026667bps"));
    bottleneck.SetChannelAttribute("Delay", StringValue(chain ? "10ms" : "0ms"));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(PACKETS, device)));
    NetDeviceContainer link = bottleneck.Install(routers.Get(0), routers.Get(1));
    TrafficControlHelper control;
    if (aqm == "fifo")
        control.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(chain ? "49p" : "99p"));
    else if (aqm == "red")
        control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue("1000p"), "MinTh", DoubleValue(10), "MaxTh",
                                 DoubleValue(30), "LInterm", DoubleValue(10), "MeanPktSize", UintegerValue(1500), "LinkBandwidth",
                                 StringValue("20Mbps"), "UseEcn", BooleanValue(ecn), "UseHardDrop", BooleanValue(!ecn));
    else if (aqm == "codel")
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue("1000p"), "UseEcn", BooleanValue(ecn));
    else if (aqm == "pie")
        control.SetRootQueueDisc("ns3::PieQueueDisc", "MaxSize", StringValue("1000p"), "MeanPktSize", UintegerValue(1500),
                                 "UseDerandomization", BooleanValue(derandomize), "UseEcn", BooleanValue(ecn));
    else if (aqm == "fq_codel")
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue("1000p"), "UseEcn", BooleanValue(ecn));
    else
        NS_FATAL_ERROR("no discipline " << aqm);
    if (device > 1) control.SetQueueLimits("ns3::DynamicQueueLimits", "HoldTime", StringValue("1ms"));
    Ptr<QueueDisc> queue = control.Install(link.Get(0)).Get(0);
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&OnEnqueue));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    queue->TraceConnectWithoutContext("Mark", MakeCallback(&OnMark));
    link.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnSent));
    address.Assign(link);

    PointToPointHelper access;
    access.DisableFlowControl();
    access.SetDeviceAttribute("DataRate", StringValue(chain ? "10Mbps" : "10Gbps"));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    if (chain)
    {
        address.NewNetwork();
        access.SetChannelAttribute("Delay", StringValue("10ms"));
        address.Assign(access.Install(routers.Get(1), routers.Get(2)));
    }
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t n = 0; n < flows; ++n)
    {
        address.NewNetwork();
        access.SetChannelAttribute("Delay", TimeValue(MicroSeconds(chain ? 10000 : dctcp ? 500 * dctcp : 20000 + 5000 * n)));
        address.Assign(access.Install(senders.Get(n), routers.Get(0)));
        address.NewNetwork();
        access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(chain ? 10 : 0)));
        auto to = address.Assign(access.Install(routers.Get(chain ? 2 : 1), receivers.Get(n)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        auto receiving = sink.Install(receivers.Get(n));
        sinks.push_back(DynamicCast<PacketSink>(receiving.Get(0)));
        receiving.Start(Time(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to.GetAddress(1), 5000));
        bulk.SetAttribute("SendSize", UintegerValue(1460 * 64));
        bulk.Install(senders.Get(n)).Start(MilliSeconds(offset * n));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    uint64_t before = 0, after = 0;
    auto received = [&sinks]() {
        uint64_t bytes = 0;
        for (auto& sink : sinks) bytes += sink->GetTotalRx();
        return bytes;
    };
    Simulator::Schedule(g_warmup, [&]() { before = received(); });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    after = received();
    std::sort(g_delays.begin(), g_delays.end());
    double sum = 0;
    for (double delay : g_delays) sum += delay;
    size_t packets = std::max<size_t>(1, g_delays.size());
    g_delays.push_back(0);
    printf("peer=ns3 aqm=%s ecn=%d packets=%zu delivered=%.0f drops=%llu marks=%llu delay_mean_ms=%.4f delay_p99_ms=%.4f "
           "goodput_mbps=%.4f\n",
           aqm.c_str(), ecn, packets, after / 1460.0, (unsigned long long)g_drops, (unsigned long long)g_marks, 1e3 * sum / packets,
           1e3 * g_delays[packets * 99 / 100], (after - before) * 8.0 / (seconds - warmup) / 1e6);
    fflush(stdout);
    std::_Exit(0);
}
