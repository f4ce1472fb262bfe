/*
 * The ledger's rules as a Promela model: RANKS hosts in a ring, their channels, the box with its queue of repeats. Channels
 * lose and duplicate packets, timers expire too early. Serial numbers are modulo M. docs/box.md, lines 31 to 44 and the NAKs.
 *
 *   S       slots             W      window of the hosts (S/2; S: a host that ignores it)
 *   N       packets           FAULTS number of losses, duplicates and premature timers; 255: any number
 *
 * Asserted: a delivered result is the sum of the right operands; no host takes a packet as delivered that was not;
 * the ledger's invariant; no NAK requests a packet that could not be stored; with W = S/2 and without faults no NAK
 * is made and no timer is needed; with a bounded number of faults every run ends: a timer that expires because no
 * other step is possible leads to progress.
 *
 *   SPLIT  a repeat takes two steps: its pass is issued, and reads the slots later
 *   DIRECTED  each packet states what its rank gives and wants
 *   SLIP   (DIRECTED) one more fault: a host sends the fields of the packet after it. The box ends the group with ORDER.
 *
 * On a mirror connection the receiver of connection r is host r itself. The rules are the same, and no host here uses what
 * it receives to decide what it sends, so one model serves both. DIRECTED: at number n, rank n mod (RANKS + 1)
 * does not give (if that is RANKS, no rank gives), and rank n mod RANKS does not want.
 * Asserted: the operands of a result are those of the ranks that give at its number, and a rank that does not want gets none.
 *
 * Mutants: NAK_NEXT, SILENT, STALE, NAK_ROOM, NO_HOLD (with SPLIT); the sixth is W = S with PUNCTUAL set. Of directed groups:
 * KEEPS (an empty packet leaves the facts of the slot's last one), FORGETS (an empty packet counts as delivered when it is
 * sent), NO_ORDER (the index in the immediate is not compared). Of mirror connections: RESULT_ACKS (a host takes its own
 * packet as acknowledged when the result is here, although the box has not read an ACK).
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef S
#define S 2
#endif
#ifndef W
#define W (S / 2)
#endif
#ifndef N
#define N 3
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef UP
#define UP 2 /* packets in a channel */
#endif
#ifndef DOWN
#define DOWN 2
#endif
#if W * 2 == S
#define PUNCTUAL /* without faults every attempt succeeds the first time */
#endif
#define M (4 * S) /* indexes in use span less than M / 2 */

#define SUB(a, b) (((a) + M - (b)) % M)
#define LESS(a, b) (SUB(b, a) != 0 && SUB(b, a) < M / 2)

#define HAS(r) (SUB(next[r], issued) > 0 && SUB(next[r], issued) <= S)
#if RANKS > 2
#define ALL_DONE (s_una[0] == N && s_una[1] == N && s_una[2] == N)
#define ROOM_2 (nfull(down_2) && nfull(repeat_2))
#define COMPLETE (HAS(0) && HAS(1) && HAS(2) && ROOM && ROOM_2)
#else
#define ALL_DONE (s_una[0] == N && s_una[1] == N)
#define COMPLETE (HAS(0) && HAS(1) && ROOM)
#endif
#define ROOM (nfull(down_0) && nfull(repeat_0) && nfull(down_1) && nfull(repeat_1))

#define T_ACK 0
#define T_NAK 1
#define T_RNR 2

/* Hosts: absolute numbers. e: what the receiver of connection r expects. */
byte s_una[RANKS], s_nxt[RANKS], s_max[RANKS], e[RANKS];
bool obeyed[RANKS], told[RANKS];

/* Box: modulo M. */
byte next[RANKS], sent[RANKS], una[RANKS], last[RANKS];
bool asked[RANKS], twice[RANKS];
byte issued;
byte slot[RANKS * S]; /* absolute number of the packet stored there */
#ifdef DIRECTED
bool gave[RANKS * S]; /* the packet stored there has an operand */
bool wanted[RANKS * S];
bool failed; /* the group has ended with ORDER */
#define GIVES(r, n) ((n) % (RANKS + 1) != (r) && (n) % (RANKS + 1) != RANKS)
#define WANTS(r, n) ((n) % RANKS != (r))
#define NOBODY 255 /* in place of the operands */
/* What a result must state: the ranks that give at its number, and whether this rank wants. */
#if RANKS > 2
#define ALL_GIVE(n) (GIVES(0, n) | GIVES(1, n) << 1 | GIVES(2, n) << 2)
#else
#define ALL_GIVE(n) (GIVES(0, n) | GIVES(1, n) << 1)
#endif
#define PLAN(r, n) (ALL_GIVE(n) | WANTS(r, n) << RANKS)
#define SLIPPED 128
#define ENDED (done || failed)
#define WITH(r, place) , givers | (wanted[(r) * S + (place)] << RANKS)
#define FACTS , facts
#else
#define ENDED done
#define WITH(r, place)
#define FACTS
#endif

byte faults = FAULTS, idle;
bool faulty; /* a fault has happened */

/*
 * Data: absolute number (and SLIPPED). Results: PSN modulo M, lowest and highest number among the operands; DIRECTED: the
 * ranks that gave, and whether this one has a payload. Answers: kind, PSN.
 */
#ifdef DIRECTED
#define RESULT { byte, byte, byte, byte }
#else
#define RESULT { byte, byte, byte }
#endif
chan up_0 = [UP] of { byte };
chan up_1 = [UP] of { byte };
chan down_0 = [DOWN] of RESULT;
chan down_1 = [DOWN] of RESULT;
chan ack_0 = [1] of { byte, byte };
chan ack_1 = [1] of { byte, byte };
chan back_0 = [1] of { byte, byte };
chan back_1 = [1] of { byte, byte };
chan repeat_0 = [2] of { byte, byte };
chan repeat_1 = [2] of { byte, byte };
#if RANKS > 2
chan up_2 = [UP] of { byte };
chan down_2 = [DOWN] of RESULT;
chan ack_2 = [1] of { byte, byte };
chan back_2 = [1] of { byte, byte };
chan repeat_2 = [2] of { byte, byte };
#endif

#ifdef SPLIT
bool busy[RANKS], opens[RANKS]; /* a pass of the queue is in progress; of a first sending */
byte reads[RANKS];              /* its index */
#define IDLE(r) (!busy[r])
#else
#define IDLE(r) true
#endif

hidden byte x, y, z, i, k, tail, head, lo, hi; /* used within one step only */
hidden byte first, was_back;
#ifdef DIRECTED
hidden byte givers, facts, slip;
#endif
bool done;

/* Smallest una and smallest next. */
inline bounds() {
  tail = una[0];
  head = next[0];
  k = 1;
  do
  :: k < RANKS ->
     if
     :: LESS(una[k], tail) -> tail = una[k]
     :: else
     fi;
     if
     :: LESS(next[k], head) -> head = next[k]
     :: else
     fi;
     k++
  :: else -> break
  od;
#if defined(SPLIT) && !defined(NO_HOLD)
  k = 0;
  do
  :: k < RANKS ->
     if
     :: busy[k] && LESS(reads[k], tail) -> tail = reads[k]
     :: else
     fi;
     k++
  :: else -> break
  od
#endif
}

inline invariant(r) {
  bounds();
  assert(!LESS(una[r], tail) && !LESS(sent[r], una[r]) && !LESS(head, sent[r]) && !LESS(next[r], head) &&
         SUB(next[r], tail) <= S)
}

/* The operands in a slot of all ranks. */
#ifdef DIRECTED
inline operands(place) {
  givers = 0;
  lo = NOBODY;
  hi = NOBODY;
  k = 0;
  do
  :: k < RANKS ->
     if
     :: gave[k * S + place] ->
        if
        :: lo == NOBODY || slot[k * S + place] < lo -> lo = slot[k * S + place]
        :: else
        fi;
        if
        :: hi == NOBODY || slot[k * S + place] > hi -> hi = slot[k * S + place]
        :: else
        fi;
        givers = givers | (1 << k)
     :: else
     fi;
     k++
  :: else -> break
  od
}
#else
inline operands(place) {
  lo = slot[place];
  hi = slot[place];
  k = 1;
  do
  :: k < RANKS ->
     if
     :: slot[k * S + place] < lo -> lo = slot[k * S + place]
     :: slot[k * S + place] > hi -> hi = slot[k * S + place]
     :: else
     fi;
     k++
  :: else -> break
  od
}
#endif

inline fault() {
  faulty = true;
  idle = 0;
  if
  :: FAULTS != 255 -> faults--
  :: else
  fi
}

inline make_nak(r, backch, kind) {
  /* A frame made without room is lost. */
#ifdef PUNCTUAL
  assert(faulty);
#endif
  assert(SUB(next[r], tail) < S); /* never for a packet that could not be stored */
  asked[r] = true;
  if
  :: nfull(backch) ->
#ifdef NAK_NEXT
     backch!kind, next[r]
#else
     backch!kind, una[r]
#endif
  :: full(backch)
  fi
}

/* A data packet of rank r with absolute number x and index i, well formed. */
inline judge_index(r, backch, repeatch) {
  was_back = !LESS(last[r], i);
  last[r] = i;
  if
  :: was_back -> asked[r] = false
  :: else
  fi;
  if
  :: LESS(i, una[r]) ->
#ifndef SILENT
     if
     :: nfull(backch) -> backch!T_ACK, SUB(una[r], 1)
     :: full(backch)
     fi
#endif
  :: !LESS(i, una[r]) && LESS(i, sent[r]) ->
     if
     :: nfull(repeatch) -> repeatch!i, false
     :: full(repeatch)
     fi
  :: !LESS(i, sent[r]) && LESS(i, next[r])
  :: i == next[r] && SUB(i, tail) < S ->
     slot[r * S + i % S] = x;
#ifdef DIRECTED
#ifdef KEEPS
     gave[r * S + i % S] = gave[r * S + i % S] || GIVES(r, x + slip);
#else
     gave[r * S + i % S] = GIVES(r, x + slip);
#endif
     wanted[r * S + i % S] = WANTS(r, x + slip);
#endif
     next[r] = (next[r] + 1) % M;
     asked[r] = false
  :: i == next[r] && SUB(i, tail) >= S
#ifdef NAK_ROOM
     ; make_nak(r, backch, T_NAK)
#endif
  :: !LESS(i, next[r]) && i != next[r] ->
     if
     :: asked[r]
#ifndef NAK_ROOM
     :: !asked[r] && SUB(next[r], tail) >= S
     :: !asked[r] && SUB(next[r], tail) < S && !twice[r] -> make_nak(r, backch, T_NAK); twice[r] = true
     :: !asked[r] && SUB(next[r], tail) < S && twice[r] -> make_nak(r, backch, T_RNR)
#else
     :: !asked[r] && !twice[r] -> make_nak(r, backch, T_NAK); twice[r] = true
     :: !asked[r] && twice[r] -> make_nak(r, backch, T_RNR)
#endif
     fi
  fi;
  invariant(r)
}

/* A data packet of rank r: absolute number x and SLIPPED. */
inline judge(r, backch, repeatch) {
  bounds();
#ifdef DIRECTED
  slip = x / SLIPPED;
  x = x % SLIPPED;
#endif
  i = x % M;
#if defined(DIRECTED) && !defined(NO_ORDER)
  if
  :: slip && SUB(i, next[r]) < M / 2 && SUB(i, tail) < S -> failed = true
  :: slip && !(SUB(i, next[r]) < M / 2 && SUB(i, tail) < S)
  :: !slip -> judge_index(r, backch, repeatch)
  fi
#else
  judge_index(r, backch, repeatch)
#endif
}

/* An answer (x, y) of the receiver of connection r crosses the box. */
inline read_ack(r, backch) {
  if
  :: x == T_ACK -> z = (y + 1) % M
  :: else -> z = y
  fi;
  if
  :: LESS(sent[r], z)
  :: else ->
     if
     :: LESS(una[r], z) -> una[r] = z; asked[r] = false; twice[r] = false
     :: else
     fi;
     backch!x, y
  fi;
  invariant(r)
}

/* A result for the receiver of connection r: PSN x, operands y to z. */
inline receive(r, ackch) {
  i = SUB(x, e[r] % M);
  if
  :: i == 0 ->
#ifdef DIRECTED
     assert(facts == PLAN(r, e[r]));
     assert(y == z && (y == e[r] || (y == NOBODY && e[r] % (RANKS + 1) == RANKS)));
#else
     assert(y == e[r] && z == e[r]);
#endif
     e[r]++;
#ifdef RESULT_ACKS
     if
     :: s_una[r] < e[r] -> s_una[r] = e[r]; obeyed[r] = false; idle = 0; done = ALL_DONE
     :: else
     fi;
     if
     :: s_nxt[r] < s_una[r] -> s_nxt[r] = s_una[r]
     :: else
     fi;
#endif
     told[r] = false;
     ackch!T_ACK, SUB(e[r] % M, 1)
  :: i != 0 && i < M / 2 ->
     if
     :: told[r]
     :: else -> told[r] = true; ackch!T_NAK, e[r] % M
     fi
  :: i >= M / 2 -> ackch!T_ACK, SUB(e[r] % M, 1)
  fi
}

/* An answer (x, y) at the sender of connection r. */
inline complete(r) {
  i = SUB(y, s_una[r] % M);
  if
  :: i >= s_max[r] - s_una[r]
  :: else ->
     if
     :: x == T_ACK -> i++
     :: else
     fi;
     if
     :: i > 0 -> s_una[r] = s_una[r] + i; obeyed[r] = false; idle = 0
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
     fi
  fi
}

proctype connection(byte r; chan upch; chan downch; chan ackch; chan backch; chan repeatch) {
  do
  :: ENDED -> break
  /* Sender. */
  :: d_step { s_nxt[r] < N && s_nxt[r] - s_una[r] < W && nfull(upch) ->
       upch!s_nxt[r];
#ifdef FORGETS
       if
       :: s_nxt[r] == s_una[r] && !GIVES(r, s_nxt[r]) -> s_una[r]++
       :: else
       fi;
#endif
       s_nxt[r]++;
       if
       :: s_max[r] < s_nxt[r] -> s_max[r] = s_nxt[r]
       :: else
       fi }
#ifdef SLIP
  :: d_step { s_nxt[r] < N && s_nxt[r] - s_una[r] < W && nfull(upch) && faults > 0 -> fault();
       upch!s_nxt[r] + SLIPPED;
       s_nxt[r]++;
       if
       :: s_max[r] < s_nxt[r] -> s_max[r] = s_nxt[r]
       :: else
       fi }
#endif
  :: d_step { nempty(backch) -> backch?x, y; complete(r);
       done = ALL_DONE }
  :: d_step { s_nxt[r] > s_una[r] && faults > 0 -> fault(); s_nxt[r] = s_una[r] }
  /* Box. */
  :: d_step { nempty(upch) -> upch?x; judge(r, backch, repeatch) }
  :: d_step { nempty(ackch) && nfull(backch) -> ackch?x, y; read_ack(r, backch) }
  :: d_step { nempty(repeatch) && nfull(downch) && IDLE(r) -> repeatch?i, first;
       if
#ifndef STALE
       :: !first && (LESS(i, una[r]) || !LESS(i, sent[r]))
       :: first || !(LESS(i, una[r]) || !LESS(i, sent[r])) ->
#else
       :: true ->
#endif
#ifdef SPLIT
          busy[r] = true;
          reads[r] = i;
          opens[r] = first
       fi }
  :: d_step { busy[r] && nfull(downch) ->
          busy[r] = false;
          i = reads[r];
          first = opens[r];
          reads[r] = 0;
#endif
          operands(i % S);
          downch!slot[r * S + i % S] % M, lo, hi WITH(r, i % S);
          if
          :: first -> sent[r] = (i + 1) % M
          :: else
          fi
#ifndef SPLIT
       fi
#endif
       }
  :: d_step { asked[r] -> asked[r] = false } /* tick */
  /* Receiver. */
  :: d_step { nempty(downch) && nfull(ackch) -> downch?x, y, z FACTS; receive(r, ackch) }
  /* Loss and duplication. */
  :: d_step { nempty(upch) && faults > 0 -> upch?x; fault() }
  :: d_step { nempty(upch) && faults > 0 -> upch?<x>; fault(); judge(r, backch, repeatch) }
  :: d_step { nempty(downch) && faults > 0 -> downch?x, y, z FACTS; fault() }
  :: d_step { nempty(downch) && nfull(ackch) && faults > 0 -> downch?<x, y, z FACTS>; fault(); receive(r, ackch) }
  :: d_step { nempty(ackch) && faults > 0 -> ackch?x, y; fault() }
  :: d_step { nempty(backch) && faults > 0 -> backch?x, y; fault() }
  od
}

/* A first sending of rank r: at once, or after the repeats of its connection. */
inline deliver(r, downch, repeatch) {
  if
  :: empty(repeatch) && IDLE(r) ->
     downch!slot[r * S + issued % S] % M, lo, hi WITH(r, issued % S);
     sent[r] = (issued + 1) % M
  :: else -> repeatch!issued, true
  fi
}

proctype passes() {
  do
  :: ENDED -> break
  :: d_step { COMPLETE ->
       operands(issued % S);
       deliver(0, down_0, repeat_0);
       deliver(1, down_1, repeat_1);
#if RANKS > 2
       deliver(2, down_2, repeat_2);
#endif
       issued = (issued + 1) % M }
  /* No other step is possible: the timers of all waiting hosts expire. */
  :: d_step { timeout && !ENDED ->
#ifdef PUNCTUAL
       assert(faulty);
#endif
       idle++;
       assert(idle <= 2);
       for (k : 0 .. RANKS - 1) {
         s_nxt[k] = s_una[k]
       };
       k = 0 }
  od
}

init {
  atomic {
    for (k : 0 .. RANKS - 1) {
      last[k] = M - 1
    }
    k = 0;
    run connection(0, up_0, down_0, ack_0, back_0, repeat_0);
    run connection(1, up_1, down_1, ack_1, back_1, repeat_1);
#if RANKS > 2
    run connection(2, up_2, down_2, ack_2, back_2, repeat_2);
#endif
    run passes()
  }
}
