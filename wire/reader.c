#include "wire/reader.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

struct rf_reader {
	pcap_t *pcap;
	char error[160];
};

int rf_reader_open(const char *path, struct rf_reader **out, char *why, size_t room)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	struct rf_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	r->pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!r->pcap) {
		snprintf(why, room, "%s", text);
		free(r);
		return -1;
	}
	if (pcap_datalink(r->pcap) != DLT_EN10MB) {
		snprintf(why, room, "%s: link type %s, not Ethernet", path,
			 pcap_datalink_val_to_name(pcap_datalink(r->pcap)));
		rf_reader_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

int rf_reader_next(struct rf_reader *r, const uint8_t **frame, size_t *len, uint64_t *ns)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	int n = pcap_next_ex(r->pcap, &h, &data);

	if (n == PCAP_ERROR_BREAK)
		return 0;
	if (n != 1) {
		snprintf(r->error, sizeof(r->error), "%s", pcap_geterr(r->pcap));
		return -1;
	}
	if (h->caplen != h->len) {
		snprintf(r->error, sizeof(r->error),
			 "a frame of %u bytes was captured only up to byte %u", h->len, h->caplen);
		return -1;
	}
	*frame = data;
	*len = h->caplen;
	if (ns)
		*ns = (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec;
	return 1;
}

const char *rf_reader_error(const struct rf_reader *r)
{
	return r->error;
}

void rf_reader_close(struct rf_reader *r)
{
	if (!r)
		return;
	pcap_close(r->pcap);
	free(r);
}
