/* What the store's server sends to its connections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "host/store/store_server.h"
#include "proto/rf_bytes.h"

void store_conn_flush(struct store_conn *c)
{
	while (c->tx_len) {
		ssize_t n = send(c->fd, c->tx, c->tx_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n <= 0)
			return; /* buffer full or connection closed: poll() reports it */
		memmove(c->tx, c->tx + n, c->tx_len - (size_t)n);
		c->tx_len -= (size_t)n;
	}
}

/* Room for more bytes. Only a member that has many gathers at once needs more than the first. */
static bool conn_room(struct store_conn *c, size_t more)
{
	size_t want = c->tx_len + more;
	uint8_t *tx;

	if (!c->tx || want > STORE_TX_MOST)
		return false;
	if (want <= c->tx_room)
		return true;
	tx = realloc(c->tx, want);
	if (!tx)
		return false;
	c->tx = tx;
	c->tx_room = want;
	return true;
}

void store_conn_send(struct store_conn *c, enum store_verb verb, const uint8_t *head,
		     size_t head_len, const void *body, size_t len)
{
	uint8_t *p;

	if (!conn_room(c, STORE_HEAD + head_len + len))
		return;
	p = c->tx + c->tx_len;
	rf_put_be32(p, (uint32_t)(1 + head_len + len));
	p[4] = (uint8_t)verb;
	if (head_len)
		memcpy(p + STORE_HEAD, head, head_len);
	if (len)
		memcpy(p + STORE_HEAD + head_len, body, len);
	c->tx_len += STORE_HEAD + head_len + len;
	store_conn_flush(c);
}

void store_conn_error(struct store_conn *c, int status, const char *text)
{
	uint8_t head[STORE_ERROR_BODY] = {0};

	rf_put_be32(head, (uint32_t)status);
	store_conn_send(c, STORE_ERROR, head, sizeof(head), text, strlen(text));
}

struct store_conn *store_conn_of(struct rf_store_server *s, unsigned int rank)
{
	for (unsigned int k = 0; k < STORE_CONNS; k++)
		if (s->conns[k].fd >= 0 && s->conns[k].member && s->conns[k].rank == rank)
			return &s->conns[k];
	return NULL;
}

void store_conn_event(struct rf_store_server *s, unsigned int rank, int status, const void *text,
		      size_t len)
{
	uint8_t head[STORE_EVENT_BODY];

	rf_put_be32(head, (uint32_t)status);
	rf_put_be16(head + 4, (uint16_t)rank);
	for (unsigned int k = 0; k < STORE_CONNS; k++)
		if (s->conns[k].fd >= 0 && s->conns[k].member && s->conns[k].rank != rank)
			store_conn_send(&s->conns[k], STORE_EVENT, head, sizeof(head), text, len);
}
