/*
 * Frames, their verdict (lines 2 to 19 of docs/box.md) and their ICRC, written from docs/box.md and
 * not from the RTL. Shared by the benches of rtl/net and rtl/control.
 */
#ifndef RF_TESTS_NET_REF_H
#define RF_TESTS_NET_REF_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <verilated.h>
#include "rf_regs.h"

namespace net
{

typedef std::vector<uint8_t> bytes;

struct rng {
	uint64_t s;
	explicit rng(uint64_t seed) : s(seed * 0x9e3779b97f4a7c15ull + 0x1234567)
	{
		next();
		next();
	}
	uint64_t next()
	{
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		return s * 0x2545f4914f6cdd1dull >> 16;
	}
	/* 0 .. n - 1 */
	unsigned below(unsigned n)
	{
		return (unsigned)(next() % n);
	}
	bool percent(unsigned p)
	{
		return below(100) < p;
	}
};

static inline unsigned be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}
static inline unsigned be24(const uint8_t *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}
static inline uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | be24(p + 1);
}
static inline void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}
static inline void put24(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 16);
	put16(p + 1, v);
}
static inline void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	put24(p + 1, v);
}

static inline uint64_t mac_of(const uint8_t *p)
{
	return (uint64_t)be16(p) << 32 | be32(p + 2);
}
static inline void put_mac(uint8_t *p, uint64_t v)
{
	put16(p, (unsigned)(v >> 32));
	put32(p + 2, (uint32_t)v);
}

/* One bit at a time, as in the definition. */
static inline uint32_t crc32_bits(uint32_t state, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		state ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			state = state & 1 ? state >> 1 ^ 0xedb88320u : state >> 1;
	}
	return state;
}

/* ICRC over the IP packet at p without its last 4 bytes; n excludes them. First byte on the wire
 * lowest. */
static inline uint32_t icrc(const uint8_t *p, size_t n)
{
	static const size_t masked[] = {1, 8, 10, 11, 26, 27, 32};
	bytes b(p, p + n);
	const uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	for (size_t i : masked)
		if (i < n)
			b[i] = 0xff;
	return ~crc32_bits(crc32_bits(0xffffffffu, ones, 8), b.data(), n);
}

static inline void put_icrc(bytes &f, size_t l2, size_t total)
{
	uint32_t v = icrc(&f[l2], total - 4);
	for (int i = 0; i < 4; i++)
		f[l2 + total - 4 + i] = (uint8_t)(v >> 8 * i);
}

/* Sum of the 16-bit words of an IP header, carries added again: 0xffff where its checksum is right.
 */
static inline unsigned ip_sum(const uint8_t *ip)
{
	unsigned sum = 0;
	for (int i = 0; i < 20; i += 2)
		sum += (unsigned)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static inline void put_ip_sum(uint8_t *ip)
{
	ip[10] = ip[11] = 0;
	const unsigned sum = ~ip_sum(ip);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* Bytes of RETH, AETH and immediate after the BTH. */
static inline int extension(unsigned opcode)
{
	switch (opcode) {
	case 0x03:
	case 0x05:
	case 0x09:
	case 0x11:
		return 4;
	case 0x06:
	case 0x0a:
		return 16;
	case 0x0b:
		return 20;
	default:
		return 0;
	}
}

/* Bytes around the longest payload: tag, IPv4, UDP, BTH, XRCETH, RETH, immediate, ICRC. */
#define AROUND_PAYLOAD (14 + 4 + 20 + 8 + 12 + 4 + 16 + 4 + 4)

struct box {
	uint64_t mac;
	uint32_t ip;
	unsigned ports;
	unsigned mtu_max;
	/* Addresses of the ports, 0 if a port has none; the port at which frames come. */
	uint32_t port_ip[8] = {};
	unsigned port = 0;
};

/* Expected descriptor of a frame. Fields from `opcode` on are used for RoCE only. */
struct verdict {
	int kind; /* 0 drop, 1 punt, 2 RoCE */
	int cause;
	size_t len;
	bool vlan;
	unsigned opcode, qpn, psn, pad, src_ip, role, key_ip, udp_len, hlen, syndrome, msn;
	int plen;
	bool icrc_ok;
};

static inline int line_of(const bytes &f, bool bad, const box &b, int *cause)
{
	const size_t n = f.size();
	auto drop = [&](int c) {
		*cause = c;
		return 0;
	};

	if (bad)
		return drop(RF_CNT_RX_MAC_ERROR);
	if (n < 60)
		return drop(RF_CNT_RX_RUNT);
	if (n > b.mtu_max + AROUND_PAYLOAD)
		return drop(RF_CNT_RX_OVERSIZE);
	for (unsigned k = 0; k < b.ports; k++)
		if (mac_of(&f[6]) == ((b.mac + k) & 0xffffffffffffull))
			return drop(RF_CNT_OWN_SOURCE);
	unsigned type = be16(&f[12]);
	size_t l2 = 14;
	if (type == 0x88a8)
		return drop(RF_CNT_TWO_TAGS);
	if (type == 0x8100) {
		type = be16(&f[16]);
		l2 = 18;
		if (type == 0x8100 || type == 0x88a8)
			return drop(RF_CNT_TWO_TAGS);
	}
	const uint8_t *ip = &f[l2];
	if (type == 0x0806) {
		const uint32_t own = b.port_ip[b.port];
		if (be32(ip + 24) == b.ip ||
		    (own != 0 && (be32(ip + 24) == own || be32(ip + 14) == own)))
			return 1;
		return drop(RF_CNT_ARP_OTHER);
	}
	if (type == 0x86dd)
		return drop(RF_CNT_IPV6);
	if (type != 0x0800)
		return drop(RF_CNT_ETHERTYPE);
	if (ip[0] >> 4 != 4)
		return drop(RF_CNT_IP_VERSION);
	if ((ip[0] & 15) != 5)
		return drop(RF_CNT_IP_OPTIONS);
	if (ip_sum(ip) != 0xffff)
		return drop(RF_CNT_IP_CHECKSUM);
	if (be16(ip + 6) & 0x3fff)
		return drop(RF_CNT_IP_FRAGMENT);
	if (f[0] & 1)
		return drop(RF_CNT_MULTICAST);
	const size_t total = be16(ip + 2);
	if (total < 28 || l2 + total > n || (l2 + total < n && n > l2 + 46))
		return drop(RF_CNT_IP_LENGTH);
	const uint32_t to = be32(ip + 16);
	const bool mine = to == b.ip, to_port = to != 0 && to == b.port_ip[b.port];
	for (unsigned k = 0; k < b.ports; k++)
		if (to != 0 && to == b.port_ip[k] && (k != b.port || mac_of(&f[0]) != b.mac + k))
			return drop(RF_CNT_WRONG_PORT);
	if ((mine || to_port) && ip[9] == 1)
		return 1;
	if (ip[9] != 17 || be16(ip + 22) != 4791)
		return drop(RF_CNT_NOT_ROCE);
	const size_t udp = be16(ip + 24);
	if (udp != total - 20)
		return drop(RF_CNT_UDP_LENGTH);
	if (mine || (to_port && udp >= 12 && be32(ip + 28) == 0x52464354))
		return 1;
	if (udp < 24)
		return drop(RF_CNT_UDP_LENGTH);
	return 2;
}

static inline verdict judge(const bytes &f, bool bad, const box &b)
{
	verdict v = {};

	v.kind = line_of(f, bad, b, &v.cause);
	v.len = f.size();
	v.vlan = f.size() >= 14 && be16(&f[12]) == 0x8100;
	if (v.kind != 2)
		return v;
	const size_t l2 = v.vlan ? 18 : 14;
	const uint8_t *ip = &f[l2], *bth = ip + 28;
	const size_t total = be16(ip + 2);
	bytes aeth(bth + 12, bth + 12 + 4);
	v.opcode = bth[0];
	v.pad = bth[1] >> 4 & 3;
	v.qpn = be24(bth + 5);
	v.psn = be24(bth + 9);
	v.src_ip = be32(ip + 12);
	const uint32_t to = be32(ip + 16);
	const bool to_port = to != 0 && to == b.port_ip[b.port];
	v.role = to_port ? 2 : v.opcode == 0x11 || v.opcode == 0x81;
	v.key_ip = to_port ? v.src_ip : to;
	v.udp_len = be16(ip + 24);
	v.hlen = (unsigned)(l2 + 40 + extension(v.opcode));
	v.plen = (int)v.udp_len - 8 - 12 - extension(v.opcode) - 4;
	v.syndrome = aeth[0];
	v.msn = be24(&aeth[1]);
	uint32_t is = 0;
	for (int i = 0; i < 4; i++)
		is |= (uint32_t)ip[total - 4 + i] << 8 * i;
	v.icrc_ok = is == icrc(ip, total - 4);
	return v;
}

/* A good RoCE frame. `payload` bytes follow the headers of the opcode; frames below 60 bytes are
 * padded with random bytes, some of the tagged ones before the tag was inserted. */
static inline bytes roce(rng &r, bool vlan, unsigned opcode, size_t payload)
{
	const size_t l2 = vlan ? 18 : 14;
	const size_t total = 40 + extension(opcode) + payload + 4;
	bytes f(l2 + total);
	for (auto &x : f)
		x = (uint8_t)r.next();
	f[0] &= 0xfe;
	f[6] = 2;
	put16(&f[12], vlan ? 0x8100 : 0x0800);
	if (vlan)
		put16(&f[16], 0x0800);
	uint8_t *ip = &f[l2];
	ip[0] = 0x45;
	put16(ip + 2, (unsigned)total);
	put16(ip + 6, 0x4000);
	ip[9] = 17;
	ip[12] = ip[16] = 10;
	put16(ip + 22, 4791);
	put16(ip + 24, (unsigned)(total - 20));
	ip[28] = (uint8_t)opcode;
	put_ip_sum(ip);
	put_icrc(f, l2, total);
	const size_t least = vlan && r.percent(50) ? 64 : 60;
	while (f.size() < least)
		f.push_back((uint8_t)r.next());
	return f;
}

/* ---- Ports of a Verilated model, of any width. */

template <size_t N> static inline void set_bytes(VlWide<N> &w, const uint8_t *p, size_t n)
{
	memset(w.data(), 0, 4 * N);
	memcpy(w.data(), p, n);
}

template <class T> static inline void set_bytes(T &w, const uint8_t *p, size_t n)
{
	w = 0;
	memcpy(&w, p, n);
}

template <size_t N> static inline bytes get_bytes(const VlWide<N> &w, size_t n)
{
	const uint8_t *p = (const uint8_t *)w.data();
	return bytes(p, p + n);
}

template <class T> static inline bytes get_bytes(const T &w, size_t n)
{
	const uint8_t *p = (const uint8_t *)&w;
	return bytes(p, p + n);
}

static inline uint64_t keep_of(size_t n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* Value of "--name V" on the command line, or the default `otherwise`. */
static inline unsigned long option(int argc, char **argv, const char *name, unsigned long otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (std::string("--") + name == argv[i])
			return strtoul(argv[i + 1], nullptr, 0);
	return otherwise;
}

static inline bool flag(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (std::string("--") + name == argv[i])
			return true;
	return false;
}

static inline std::string text_option(int argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < argc; i++)
		if (std::string("--") + name == argv[i])
			return argv[i + 1];
	return "";
}

/* Frames of a pcap file (classic format, little-endian, Ethernet); empty if it cannot be read.
 */
static inline std::vector<bytes> read_pcap(const std::string &path)
{
	std::vector<bytes> frames;
	FILE *in = fopen(path.c_str(), "rb");
	uint32_t head[6], rec[4];
	if (in == nullptr)
		return frames;
	if (fread(head, 4, 6, in) == 6 && (head[0] == 0xa1b2c3d4u || head[0] == 0xa1b23c4du))
		while (fread(rec, 4, 4, in) == 4 && rec[2] <= 65536) {
			bytes f(rec[2]);
			if (fread(f.data(), 1, f.size(), in) != f.size())
				break;
			frames.push_back(f);
		}
	fclose(in);
	return frames;
}

} /* namespace net */

#endif
