#include "tools/gen.h"

void gen_dump(struct gen *g, pcap_dumper_t *to, const uint8_t *frame, size_t len)
{
	struct pcap_pkthdr h = {.caplen = (bpf_u_int32)len, .len = (bpf_u_int32)len};

	h.ts.tv_sec = (time_t)(g->written / 1000000);
	h.ts.tv_usec = (suseconds_t)(g->written % 1000000);
	g->written++;
	pcap_dump((u_char *)to, &h, frame);
}
