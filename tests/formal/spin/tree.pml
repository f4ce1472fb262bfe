/*
 * A tree of boxes as a Promela model: a parent, two leaves whose groups have an uplink, hosts at the leaves. docs/box.md,
 * "Groups with an uplink". Channels lose and duplicate packets, timers and TICKs come too early; between the boxes a copy may
 * come at any later time. Host 0 is at leaf 0, host 1 at leaf 1, host 2 (HOSTS 3) at leaf 0. Every result asks for an ACK, as
 * S is small. Indexes are absolute: serial numbers are the subject of window.pml.
 *
 *   S0, S1, SP  slots of the leaves and of the parent; a host's window is half of its leaf's
 *   WP          window of the uplinks (SP / 2)           N   packets
 *   FAULTS      losses, duplicates, premature timers and TICKs
 *   SELECTIVE   the hosts and their connections retransmit selectively; otherwise go-back-N
 *   SPLIT       a resend takes two steps: its pass is issued, and reads the slots later
 *
 * Asserted: a delivered result is the sum of the right operands of all hosts; no pass up reads operands of another index
 * (it would see a DISAGREE that no rank caused); the invariants of the page; no host takes a packet as delivered that was
 * not; every run ends; a TICK that finds got unmoved sends at most one packet with data.
 *
 * Mutants, by the names of the page: RESULT_OLD (what has come back before is written), AGAIN_LOOK (a resend is not looked
 * at when it is issued), PASS_HOLDS (with SPLIT: the pass does not hold tail), ACK_GOT (the ACK names the highest result),
 * TICK_ACK (no ACK on the TICK), TICK_PROBE (no probe), TICK_ONE (all that is missing is sent again), UP_WINDOW (no window).
 */
#ifndef HOSTS
#define HOSTS 2
#endif
#ifndef S0
#define S0 2
#endif
#ifndef S1
#define S1 S0
#endif
#ifndef SP
#define SP 2
#endif
#ifndef WP
#define WP (SP / 2)
#endif
#ifndef N
#define N 3
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef DEPTH
#define DEPTH 1 /* packets in a channel between a host and its leaf */
#endif
#ifndef LINE
#define LINE 2 /* packets in a channel between a leaf and the parent */
#endif

#define CONNS (HOSTS + 2) /* of the hosts at their leaves, then of the leaves at the parent */
#define PARENT 2
#define LEAF(r) ((r) & 1)
#define BOX(c) ((c) < HOSTS -> LEAF(c) : PARENT)
#define SLOTS(b) ((b) == 0 -> S0 : ((b) == 1 -> S1 : SP))
#define W(l) (SLOTS(l) / 2)
#define MOST 8 /* slots of the largest box */
#define PLACE(c, i) ((c) * MOST + (i) % SLOTS(BOX(c)))
#define BIT(i, b) (1 << ((i) % SLOTS(b)))

#define T_ACK 0
#define T_NAK 1
#define T_RNR 2
#define NONE 255

#ifdef SELECTIVE
#define PICKY(c) true
#else
#define PICKY(c) ((c) >= HOSTS)
#endif

#define DONE_AT(r) (s_una[r] == N)
#if HOSTS > 2
#define ALL_DONE (DONE_AT(0) && DONE_AT(1) && DONE_AT(2))
#define BESIDE(l) ((l) == 1 || (nfull(down[2]) && nfull(repeat[2])))
#else
#define ALL_DONE (DONE_AT(0) && DONE_AT(1))
#define BESIDE(l) true
#endif

/* Hosts. e: the first result that has not come; early: results that came ahead of it. */
byte s_una[HOSTS], s_nxt[HOSTS], s_max[HOSTS], e[HOSTS], early[HOSTS];
bool obeyed[HOSTS], asked_own[HOSTS];

/* Connections at their box. top: one more than the last index, of selective ones the highest. */
byte next[CONNS], sent[CONNS], una[CONNS], top[CONNS], present[CONNS];
bool asked[CONNS], twice[CONNS];
byte slot[CONNS * MOST]; /* number of the operand */
byte issued[3];

/* Leaves. */
byte up[2], got[2], seen[2], acked[2], came[2];
byte low[2 * MOST], high[2 * MOST]; /* lowest and highest number among the operands of the result in the uplink's lane */
#ifdef SPLIT
byte reads[2] = NONE; /* index of the resend whose pass is in progress */
#endif

byte faults = FAULTS, idle;
bool done;

chan data[HOSTS] = [DEPTH] of { byte };
chan down[HOSTS] = [DEPTH] of { byte, byte, byte };
chan ack[HOSTS] = [1] of { byte, byte };
chan back[HOSTS] = [1] of { byte, byte };
chan repeat[CONNS] = [1] of { byte, bool };
chan line_up[2] = [LINE] of { byte, byte };
chan line_down[2] = [LINE] of { byte, byte, byte };
chan line_ack[2] = [1] of { byte };
chan line_nak[2] = [1] of { byte };
chan again[2] = [2] of { byte };
chan late_up[2] = [1] of { byte, byte }; /* copies that the network delivers at any later time */
chan late_down[2] = [1] of { byte, byte, byte };

hidden byte x, y, z, i, k, tail, head, lo, hi, j, n, b;
hidden byte first, was_back;

/* Smallest una and smallest next of box b. */
inline bounds() {
  tail = NONE;
  head = NONE;
  for (k : 0 .. CONNS - 1) {
    if
    :: BOX(k) == b ->
       tail = (una[k] < tail -> una[k] : tail);
       head = (next[k] < head -> next[k] : head)
    :: else
    fi
  }
#if defined(SPLIT) && !defined(PASS_HOLDS)
  if
  :: b != PARENT && reads[b & 1] < tail -> tail = reads[b & 1]
  :: else
  fi
#endif
}

inline invariant(c) {
  b = BOX(c);
  bounds();
  assert(tail <= una[c] && una[c] <= sent[c] && sent[c] <= head && head <= next[c] && next[c] <= tail + SLOTS(BOX(c)))
}

inline invariant_up(l) {
  b = l;
  bounds();
  assert(issued[l] <= got[l] && got[l] <= up[l] && up[l] <= head && up[l] <= got[l] + WP)
}

inline fault() {
  idle = 0;
  faults--
}

/* A gap at index i; n: `top` before it. */
inline nak(c) {
  if
  :: PICKY(c) ->
     n = (n < i && n >= next[c] -> n : next[c]);
     if
     :: c < HOSTS && nfull(back[c]) -> back[c]!T_NAK, n
     :: c >= HOSTS && nfull(line_nak[(c - HOSTS) & 1]) -> line_nak[(c - HOSTS) & 1]!n
     :: else
     fi
  :: !PICKY(c) && !asked[c] ->
     asked[c] = true;
     if
     :: nfull(back[c]) -> back[c]!(twice[c] -> T_RNR : T_NAK), una[c]
     :: else
     fi;
     twice[c] = true
  :: else
  fi
}

/* Lines 30 to 36 for index i with operand x of connection c. */
inline judge(c) {
  b = BOX(c);
  bounds();
  was_back = i < top[c];
  n = top[c];
  if
  :: !PICKY(c) || !was_back -> top[c] = i + 1
  :: else
  fi;
  if
  :: was_back && !PICKY(c) -> asked[c] = false
  :: else
  fi;
  if
  :: i < una[c] ->
     if
     :: c < HOSTS && nfull(back[c]) -> back[c]!T_ACK, una[c] - 1
     :: else /* the leaf ignores it */
     fi
  :: una[c] <= i && i < sent[c] ->
     if
     :: nfull(repeat[c]) -> repeat[c]!i, false
     :: else
     fi
  :: sent[c] <= i && i < next[c]
  :: i >= next[c] && i >= tail + SLOTS(BOX(c))
  :: i == next[c] && i < tail + SLOTS(BOX(c)) ->
     slot[PLACE(c, i)] = x;
     next[c]++;
     asked[c] = false;
     do
     :: present[c] & BIT(next[c], BOX(c)) ->
        present[c] = present[c] & ~BIT(next[c], BOX(c));
        next[c]++
     :: else -> break
     od
  :: i > next[c] && i < tail + SLOTS(BOX(c)) ->
     if
     :: PICKY(c) && !(present[c] & BIT(i, BOX(c))) ->
        slot[PLACE(c, i)] = x;
        present[c] = present[c] | BIT(i, BOX(c))
     :: else
     fi
  fi;
  if
  :: i > next[c] && next[c] < tail + SLOTS(BOX(c)) && !(present[c] & BIT(next[c], BOX(c))) -> nak(c)
  :: else
  fi;
  invariant(c)
}

/* The receiver of connection c has everything below z. */
inline acknowledged(c) {
  if
  :: z <= sent[c] && una[c] < z -> una[c] = z; asked[c] = false; twice[c] = false
  :: else
  fi;
  invariant(c)
}

/* An answer (x, y) of host r crosses its leaf. */
inline read_ack(r) {
  z = (x == T_ACK -> y + 1 : y);
  if
  :: z > sent[r]
  :: else ->
     if
     :: PICKY(r) && x == T_NAK
     :: else -> acknowledged(r)
     fi;
     back[r]!x, y
  fi
}

/* A result at host r: index i, operands y to z. */
inline receive(r) {
  if
  :: i >= e[r] -> assert(y == i && z == i)
  :: else
  fi;
  if
  :: i == e[r] ->
     e[r]++;
     do
     :: early[r] & (1 << e[r]) -> e[r]++
     :: else -> break
     od;
     asked_own[r] = false;
     ack[r]!T_ACK, e[r] - 1
  :: i > e[r] ->
#ifdef SELECTIVE
     early[r] = early[r] | (1 << i);
     ack[r]!T_NAK, e[r]
#else
     if
     :: asked_own[r]
     :: else -> asked_own[r] = true; ack[r]!T_NAK, e[r]
     fi
#endif
  :: i < e[r] -> ack[r]!T_ACK, e[r] - 1
  fi
}

/* An answer (x, y) at the sender of host r. */
inline complete(r) {
  z = (x == T_ACK -> y + 1 : y);
#ifdef SELECTIVE
  if
  :: x == T_NAK ->
     if
     :: y >= s_una[r] && y < s_max[r] && nfull(data[r]) -> data[r]!y
     :: else
     fi;
     z = 0
  :: else
  fi;
#endif
  if
  :: z > s_max[r] || z < s_una[r]
  :: else ->
     if
     :: z > s_una[r] -> s_una[r] = z; obeyed[r] = false; idle = 0
     :: else
     fi;
     assert(s_una[r] <= e[r]);
     if
     :: (x == T_NAK && !obeyed[r]) || x == T_RNR || s_nxt[r] < s_una[r] -> s_nxt[r] = s_una[r]
     :: else
     fi;
     if
     :: x == T_NAK -> obeyed[r] = true
     :: else
     fi;
     done = ALL_DONE
  fi
}

/* The retransmission timer of host r. */
inline expire(r) {
#ifdef SELECTIVE
  if
  :: s_nxt[r] > s_una[r] && nfull(data[r]) -> data[r]!s_una[r]
  :: else
  fi
#else
  s_nxt[r] = s_una[r]
#endif
}

proctype host(byte r) {
  do
  :: done -> break
  /* Sender. */
  :: d_step { s_nxt[r] < N && s_nxt[r] - s_una[r] < W(LEAF(r)) && nfull(data[r]) ->
       data[r]!s_nxt[r];
       s_nxt[r]++;
       s_max[r] = (s_max[r] < s_nxt[r] -> s_nxt[r] : s_max[r]) }
  :: d_step { nempty(back[r]) -> back[r]?x, y; complete(r) }
  :: d_step { s_nxt[r] > s_una[r] && faults > 0 -> fault(); expire(r) }
  /* Leaf. */
  :: d_step { nempty(data[r]) -> data[r]?i; x = i; judge(r) }
  :: d_step { nempty(ack[r]) && nfull(back[r]) -> ack[r]?x, y; read_ack(r) }
  :: d_step { nempty(repeat[r]) && nfull(down[r]) -> repeat[r]?i, first;
       if
       :: !first && (i < una[r] || i >= sent[r])
       :: else ->
          down[r]!i, low[LEAF(r) * MOST + i % SLOTS(LEAF(r))], high[LEAF(r) * MOST + i % SLOTS(LEAF(r))];
          sent[r] = (first -> i + 1 : sent[r])
       fi }
  :: d_step { asked[r] -> asked[r] = false } /* TICK */
  /* Receiver. */
  :: d_step { nempty(down[r]) && nfull(ack[r]) -> down[r]?i, y, z; receive(r) }
  /* Loss and duplication. */
  :: d_step { nempty(data[r]) && faults > 0 -> data[r]?_; fault() }
  :: d_step { nempty(data[r]) && faults > 0 -> data[r]?<i>; x = i; fault(); judge(r) }
  :: d_step { nempty(down[r]) && faults > 0 -> down[r]?_, _, _; fault() }
  :: d_step { nempty(down[r]) && nfull(ack[r]) && faults > 0 -> down[r]?<i, y, z>; fault(); receive(r) }
  :: d_step { nempty(ack[r]) && faults > 0 -> ack[r]?_, _; fault() }
  :: d_step { nempty(back[r]) && faults > 0 -> back[r]?_, _; fault() }
  od
}

/* The operands of the ranks of leaf l at index i. */
inline operands(l) {
  lo = NONE;
  hi = 0;
  for (k : 0 .. HOSTS - 1) {
    if
    :: LEAF(k) == (l) ->
       lo = (slot[PLACE(k, i)] < lo -> slot[PLACE(k, i)] : lo);
       hi = (slot[PLACE(k, i)] > hi -> slot[PLACE(k, i)] : hi)
    :: else
    fi
  };
  assert(lo == i && hi == i) /* also: no DISAGREE that no rank caused */
}

inline acknowledge(l) {
  if
  :: got[l] > 0 && nfull(line_ack[l]) ->
#ifdef ACK_GOT
     line_ack[l]!seen[l];
#else
     line_ack[l]!got[l];
#endif
     acked[l] = got[l]
  :: else
  fi
}

inline send_again(l, what) {
  if
  :: nfull(again[l]) -> again[l]!what
  :: else
  fi
}

/* Lines u9 to u12: result i of operands y to z at leaf l. */
inline come_back(l) {
  if
  :: i >= up[l]
#ifdef RESULT_OLD
  :: i < got[l] ->
     low[(l) * MOST + i % SLOTS(l)] = y;
     high[(l) * MOST + i % SLOTS(l)] = z;
     acknowledge(l)
#else
  :: i < got[l] -> acknowledge(l)
#endif
  :: i >= got[l] && i < up[l] && (came[l] & BIT(i, l)) -> acknowledge(l)
  :: i >= got[l] && i < up[l] && !(came[l] & BIT(i, l)) ->
     low[(l) * MOST + i % SLOTS(l)] = y;
     high[(l) * MOST + i % SLOTS(l)] = z;
     came[l] = came[l] | BIT(i, l);
     j = got[l];
     do
     :: came[l] & BIT(got[l], l) -> came[l] = came[l] & ~BIT(got[l], l); got[l]++; idle = 0
     :: else -> break
     od;
     if
     :: i >= seen[l] ->
        j = seen[l];
        do
        :: j < i -> send_again(l, j); j++
        :: else -> break
        od;
        seen[l] = i + 1
     :: i < seen[l] && got[l] < seen[l] -> send_again(l, got[l])
     :: else
     fi;
     acknowledge(l)
  fi;
  invariant_up(l)
}

/* TICK, rules 2 and 3, where got has not moved. */
inline tick(l) {
#ifndef TICK_ACK
  if
  :: up[l] > got[l] || acked[l] != got[l] -> acknowledge(l)
  :: else
  fi;
#endif
#ifndef TICK_PROBE
  n = 0;
#ifdef TICK_ONE
  j = got[l];
  do
  :: j < up[l] && nfull(again[l]) -> n = n + !(came[l] & BIT(j, l)); send_again(l, j); j++
  :: else -> break
  od;
#else
  if
  :: up[l] > got[l] -> n++; send_again(l, got[l])
  :: else
  fi;
#endif
  assert(n <= 1)
#endif
}

#ifdef AGAIN_LOOK
#define WANTED(l) true
#else
#define WANTED(l) (got[l] <= i && i < up[l] && !(came[l] & BIT(i, l)))
#endif
#ifdef SPLIT
#define IDLE(l) (reads[l] == NONE)
#else
#define IDLE(l) true
#endif
#ifdef UP_WINDOW
#define MAY_UP(l) true
#else
#define MAY_UP(l) (up[l] < got[l] + WP)
#endif
#if HOSTS > 2
#define COMPLETE(l) (up[l] < next[l] && ((l) == 1 || up[l] < next[2]))
#else
#define COMPLETE(l) (up[l] < next[l])
#endif

/* The first sending of result i to host r: at once, or after the repeats of its connection. */
inline deliver(r) {
  if
  :: empty(repeat[r]) ->
     down[r]!i, low[LEAF(r) * MOST + i % SLOTS(LEAF(r))], high[LEAF(r) * MOST + i % SLOTS(LEAF(r))];
     sent[r] = i + 1
  :: else -> repeat[r]!i, true
  fi
}

/* The operands of both leaves at the parent. */
inline sum() {
  lo = slot[PLACE(HOSTS, i)];
  hi = slot[PLACE(HOSTS + 1, i)];
  if
  :: lo > hi -> n = lo; lo = hi; hi = n
  :: else
  fi
}

inline deliver_up(l) {
  if
  :: empty(repeat[HOSTS + l]) -> line_down[l]!i, lo, hi; sent[HOSTS + l] = i + 1
  :: else -> repeat[HOSTS + l]!i, true
  fi
}

/* Both ends of the uplink of leaf l. */
proctype uplink(byte l) {
  do
  :: done -> break
  /* Leaf, up. */
  :: d_step { COMPLETE(l) && MAY_UP(l) && nfull(line_up[l]) ->
       i = up[l];
       operands(l);
       line_up[l]!i, lo;
       up[l]++;
       invariant_up(l) }
  :: d_step { nempty(again[l]) && nfull(line_up[l]) && IDLE(l) -> again[l]?i;
       if
       :: !WANTED(l)
       :: else ->
#ifdef SPLIT
          reads[l] = i
       fi }
  :: d_step { reads[l] != NONE && nfull(line_up[l]) ->
          i = reads[l];
          reads[l] = NONE;
#endif
          operands(l);
          line_up[l]!i, lo
#ifndef SPLIT
       fi
#endif
       }
  /* Parent. */
  :: d_step { nempty(line_up[l]) -> line_up[l]?i, x; judge(HOSTS + l) }
  :: d_step { nempty(line_ack[l]) -> line_ack[l]?z; acknowledged(HOSTS + l) }
  :: d_step { nempty(repeat[HOSTS + l]) && nfull(line_down[l]) -> repeat[HOSTS + l]?i, first;
       if
       :: !first && (i < una[HOSTS + l] || i >= sent[HOSTS + l])
       :: else ->
          sum();
          line_down[l]!i, lo, hi;
          sent[HOSTS + l] = (first -> i + 1 : sent[HOSTS + l])
       fi }
  /* Leaf, down. */
  :: d_step { nempty(line_down[l]) -> line_down[l]?i, y, z; come_back(l) }
  :: d_step { nempty(line_nak[l]) -> line_nak[l]?i;
       if
       :: got[l] <= i && i < up[l] -> send_again(l, i)
       :: else
       fi }
  :: d_step { faults > 0 && up[l] > got[l] -> fault(); tick(l) }
  :: d_step { issued[l] < got[l] && nfull(down[l]) && nfull(repeat[l]) && BESIDE(l) ->
       i = issued[l];
       deliver(l);
#if HOSTS > 2
       if
       :: l == 0 -> deliver(2)
       :: else
       fi;
#endif
       issued[l]++ }
  /* Loss and duplication. */
  :: d_step { nempty(line_up[l]) && faults > 0 -> line_up[l]?_, _; fault() }
  :: d_step { nempty(line_up[l]) && nfull(late_up[l]) && faults > 0 -> line_up[l]?<i, x>; late_up[l]!i, x; fault() }
  :: d_step { nempty(late_up[l]) -> late_up[l]?i, x; judge(HOSTS + l) }
  :: d_step { nempty(line_down[l]) && faults > 0 -> line_down[l]?_, _, _; fault() }
  :: d_step { nempty(line_down[l]) && nfull(late_down[l]) && faults > 0 ->
       line_down[l]?<i, y, z>; late_down[l]!i, y, z; fault() }
  :: d_step { nempty(late_down[l]) -> late_down[l]?i, y, z; come_back(l) }
  :: d_step { nempty(line_ack[l]) && faults > 0 -> line_ack[l]?_; fault() }
  :: d_step { nempty(line_nak[l]) && faults > 0 -> line_nak[l]?_; fault() }
  od
}

proctype top_box() {
  do
  :: done -> break
  :: d_step { issued[PARENT] < next[HOSTS] && issued[PARENT] < next[HOSTS + 1] && nfull(line_down[0]) &&
       nfull(line_down[1]) && nfull(repeat[HOSTS]) && nfull(repeat[HOSTS + 1]) ->
       i = issued[PARENT];
       sum();
       deliver_up(0);
       deliver_up(1);
       issued[PARENT]++ }
  /* No other step is possible: the timers of all waiting hosts expire, and a TICK comes. */
  :: d_step { timeout && !done ->
       idle++;
       assert(idle <= 3);
       for (x : 0 .. HOSTS - 1) {
         expire(x)
       };
       x = 0;
       tick(0);
       tick(1) }
  od
}

init {
  atomic {
#ifdef SPLIT
    reads[0] = NONE;
    reads[1] = NONE;
#endif
    run host(0);
    run host(1);
#if HOSTS > 2
    run host(2);
#endif
    run uplink(0);
    run uplink(1);
    run top_box()
  }
}
