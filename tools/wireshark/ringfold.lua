-- ringfold in Wireshark and tshark: job, group, rank, index, slot and repeat of each packet of a group, and the control protocol.
--
--   tshark -X lua_script:tools/wireshark/ringfold.lua -r hosts.pcapng -Y ringfold
--   wireshark -X lua_script:tools/wireshark/ringfold.lua hosts.pcapng       or copy it to ~/.local/lib/wireshark/plugins
--
-- Group membership is learnt from the JOIN and READY messages in the capture. If these are missing, it is taken from the
-- comments that `ringfold box` and `ringfold sim` write at each packet ("ringfold job 7 group 0 rank 2 data index 1801 slot 9 repeat"), so
-- a part of such a capture is sufficient. Captures by other tools that begin after the JOINs need a table, a text file named by
-- the preference ringfold.table (-o ringfold.table:FILE), one line per rank:
--
--   JOB GROUP RANK ADDRESS QPN SUCCESSOR_ADDRESS SUCCESSOR_QPN START_PSN SHIFT SLOTS [mirror] [directed]
--
-- (mirror: the successor is the box's port, with the rank's own QPN.) In a directed group the immediate is taken apart; where the
-- group is not known, the preference ringfold.directed (-o ringfold.directed:TRUE) takes all immediates apart. In the table
-- the job is decimal, other numbers are decimal or 0x..; the preference ringfold.save writes such a file from what was learnt. Normative: docs/control-protocol.md.

local PORT, HEADER, MAGIC = 4791, 56, 0x52464354
local PSN_MOD = 0x1000000

local verbs = {[1] = "JOIN", [2] = "LEAVE", [3] = "STATUS", [4] = "ABORT", [5] = "RESET", [6] = "RELEASE"}
local results = {[1] = "WAITING", [2] = "READY", [3] = "FAILED", [4] = "DRAINING", [5] = "ENDED", [6] = "OK", [7] = "PAGE"}
local types = {[0] = "fp32", "bf16", "fp16", "int32", "uint32", "int64", "uint64", "fp64", "int8", "uint8"}
local ops = {[0] = "sum", "min", "max", "and", "or", "xor", "copy"}
local kinds = {[0] = "own use", "all-reduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter", "barrier", "batch"}
local pages = {[1] = "GROUP", [2] = "RANKS", [3] = "BOX", [4] = "PORT", [5] = "FIRMWARE", [6] = "GROUPS", [7] = "CONNECTIONS", [8] = "LOG", [9] = "LAG", [10] = "HELD", [11] = "JOBS", [12] = "TREE"}
local reasons = {[0] = "NONE", "TRUNCATED", "VERSION", "KEY_UNKNOWN", "TAG", "VERB", "STALE", "FIELD", "RANKS", "RANK_RANGE", "RANK_TAKEN",
  "RANKS_DIFFER", "TYPES_DIFFER", "MTU_DIFFERS", "SETTINGS_DIFFER", "TYPE_UNSUPPORTED", "MTU_UNSUPPORTED", "ADDRESS_TWICE",
  "CONNECTION_TAKEN", "SUCCESSOR_UNKNOWN", "NO_GROUPS", "NO_SLOTS", "NO_CONNECTIONS", "NO_LANES", "NO_PASSES", "GROUP_UNKNOWN",
  "MISSING_RANKS", "LEASE", "ABORTED", "OPERATOR", "RESET", "DISAGREE", "LENGTH", "ELEMENT", "OPCODE", "NAK", "HARDWARE",
  "NOT_OPERATOR", "ENDED", "NONCE", "QUOTA", "OTHER_PORT", "QUOTA_RANKS", "QUOTA_ENTRIES", "QUOTA_BYTES",
  "ADDRESS_DENIED", "PORT_DENIED", "BEFORE_START", "PARITY", "NOT_HELD", "HOLD_TIME",
  "WRONG_QPN", "SELECTIVE_UNSUPPORTED", "IMMEDIATE", "ORDER", "NO_ADDRESS", "IPV6", "MIRROR_UNSUPPORTED", "DIRECTED_UNSUPPORTED", "NO_RANKS",
  "UPLINK_LOOP", "UPLINK_DEPTH", "UPLINK_DIFFERS", "UPLINK_UNSUPPORTED", "UPLINK_VERSION", "UPLINK_MTU", "UPLINK_TYPE", "UPLINK_SLOTS",
  "UPLINK_QUOTA", "UPLINK_SILENT"}

-- ---- packets of groups ----

local rf = Proto("ringfold", "ringfold group")
local f = {
  job = ProtoField.uint64("ringfold.job", "Job"),
  group = ProtoField.uint16("ringfold.group", "Group"),
  rank = ProtoField.uint16("ringfold.rank", "Rank"),
  role = ProtoField.string("ringfold.role", "Role"),
  index = ProtoField.uint32("ringfold.index", "Index"),
  slot = ProtoField.uint32("ringfold.slot", "Slot"),
  repeated = ProtoField.bool("ringfold.repeat", "Repeat"),
  missing = ProtoField.uint32("ringfold.missing", "Packets missing before this one"),
  imm = ProtoField.uint32("ringfold.imm", "Immediate", base.HEX),
  kind = ProtoField.uint32("ringfold.kind", "Collective", base.DEC, kinds),
  call = ProtoField.uint32("ringfold.call", "Number of the call modulo 4"),
  hash = ProtoField.uint32("ringfold.hash", "Hash of the call", base.HEX),
  wants = ProtoField.bool("ringfold.wants", "Wants the result"),
  gives = ProtoField.bool("ringfold.gives", "Gives an operand"),
  op = ProtoField.uint32("ringfold.op", "Operation", base.DEC, ops),
  type = ProtoField.uint32("ringfold.type", "Type", base.DEC, types),
  low = ProtoField.uint32("ringfold.low", "Index modulo 16"),
}
rf.fields = {f.job, f.group, f.rank, f.role, f.index, f.slot, f.repeated, f.missing, f.imm, f.kind, f.call, f.hash, f.wants, f.gives, f.op, f.type,
  f.low}
-- What deserves a look: View > Expert Information lists them all.
local notes = {
  gap = ProtoExpert.new("ringfold.note.gap", "Packets before this one are missing here", expert.group.SEQUENCE, expert.severity.WARN),
  again = ProtoExpert.new("ringfold.note.repeat", "This packet was here before", expert.group.SEQUENCE, expert.severity.NOTE),
  nak = ProtoExpert.new("ringfold.note.nak", "The box asks for packets again (NAK)", expert.group.SEQUENCE, expert.severity.WARN),
  rnr = ProtoExpert.new("ringfold.note.rnr", "The box asks to wait (RNR NAK): another rank is late", expert.group.SEQUENCE, expert.severity.NOTE),
  order = ProtoExpert.new("ringfold.note.order", "The immediate names another index than the PSN", expert.group.SEQUENCE, expert.severity.ERROR),
  immediate = ProtoExpert.new("ringfold.note.immediate", "The immediate is not allowed", expert.group.MALFORMED, expert.severity.ERROR),
}
rf.experts = {notes.gap, notes.again, notes.nak, notes.rnr, notes.order, notes.immediate}
rf.prefs.table = Pref.string("Table of ranks", "", "File with the ranks of captures that hold no JOIN")
rf.prefs.save = Pref.string("Save table", "", "File to write what was learnt from JOIN and READY")
rf.prefs.directed = Pref.bool("Directed groups", false, "Take the immediate of every SEND apart, also where the group is not known")

local field_qpn = Field.new("infiniband.bth.destqp")
local field_psn = Field.new("infiniband.bth.psn")
local field_opcode = Field.new("infiniband.bth.opcode")
local field_imm = Field.new("infiniband.immdt")
local field_src = Field.new("ip.src")
local field_dst = Field.new("ip.dst")
local field_udp = Field.new("udp.length")
local field_mac = Field.new("eth.src")
local field_syndrome = Field.new("infiniband.aeth.syndrome")

local field_interface = Field.new("frame.interface_id")
local field_comment = Field.new("frame.comment")

local groups  -- "job/group" -> {slots =, shift =}
local data    -- "address/QPN" of the receiver -> rank that sends to it
local acks    -- "address/QPN" of the sender -> the same rank: its ACKs arrive there
local mirrors -- "address/QPN" of a mirror rank -> the rank: its packets come from there and go back there
local seen    -- for each capture interface: index -> first frame
local highest -- for each capture interface: the highest index so far
local verdict -- frame -> result of the first pass

local function number(text)
  return tonumber(text) or error("ringfold.table: not a number: " .. text)
end

-- Lua's numbers cannot hold 64 bits exactly.
local function number64(text)
  local n = UInt64(0)
  assert(text:match("^%d+$"), "ringfold.table: not a decimal number: " .. text)
  for digit in text:gmatch("%d") do
    n = n * UInt64(10) + UInt64(tonumber(digit))
  end
  return n
end

local function add_rank(r)
  if r.mirror then
    mirrors[r.ip .. "/" .. r.qpn] = r
    return
  end
  data[r.peer_ip .. "/" .. r.peer_qpn] = r
  acks[r.ip .. "/" .. r.qpn] = r
end

local function load_table(path)
  local file = assert(io.open(path))
  for line in file:lines() do
    local w = {}
    for word in line:gsub("#.*", ""):gmatch("%S+") do
      w[#w + 1] = word
    end
    if #w > 0 then
      local more = " " .. table.concat(w, " ", 11) .. " "
      assert(#w >= 10 and more:gsub(" mirror ", " "):gsub(" directed ", " "):match("^ *$"),
             "ringfold.table: ten words in a line, then mirror, directed: " .. line)
      local key = w[1] .. "/" .. w[2]
      groups[key] = {slots = number(w[10])}
      add_rank({job = number64(w[1]), key = key, group = number(w[2]), rank = number(w[3]), ip = w[4], qpn = number(w[5]), peer_ip = w[6],
                peer_qpn = number(w[7]), start = number(w[8]), shift = number(w[9]), mirror = more:match(" mirror ") ~= nil,
                directed = more:match(" directed ") ~= nil})
    end
  end
  file:close()
end

local function save_table()
  local file = assert(io.open(rf.prefs.save, "w"))
  local lines = {}
  for _, ranks in ipairs({data, mirrors}) do
    for _, r in pairs(ranks) do
      local g = groups[r.key]
      lines[#lines + 1] = string.format("%s %d %d %s %d %s %d 0x%06x 0x%06x %d%s%s\n", tostring(r.job), r.group, r.rank, r.ip, r.qpn, r.peer_ip,
                                        r.peer_qpn, r.start, r.shift, g and g.slots or 0, r.mirror and " mirror" or "",
                                        r.directed and " directed" or "")
    end
  end
  table.sort(lines)
  file:write(table.concat(lines))
  file:close()
end

function rf.init()
  groups, data, acks, mirrors, seen, highest, verdict = {}, {}, {}, {}, {}, {}, {}
  if rf.prefs.table ~= "" then
    load_table(rf.prefs.table)
  end
end

-- How many packets are missing before this index at a place, if it is ahead of all before it; else nil.
local function missing_before(at, index)
  local ahead = highest[at] and (index - highest[at]) % PSN_MOD or 1
  if ahead == 0 or ahead >= PSN_MOD / 2 then
    return nil
  end
  highest[at] = index
  return ahead > 1 and ahead - 1 or nil
end

local function place_of(what, mac)
  local interface = field_interface()
  return what .. "/" .. mac .. "/" .. (interface and tostring(interface) or "")
end

-- Reads the comment at the packet.
local function noted(from_box)
  local comment = field_comment()
  local words = comment and comment.value:match("ringfold (job .*)")
  if not words then
    return nil
  end
  local job, group, rank, role, index, rest = words:match("^job (%d+) group (%d+) rank (%d+) (%a+) index (%d+)(.*)")
  if not job then
    return nil
  end
  local found = {r = {job = number64(job), group = number(group), rank = number(rank)}, index = number(index)}
  found.slot = tonumber(rest:match("slot (%d+)"))
  found.role = (role == "ack" and "acknowledgement" or "data") .. (from_box and " from the box" or " to the box")
  if role == "data" then
    found.repeated = rest:match("repeat") ~= nil
    found.missing = missing_before(place_of(job .. "/" .. group .. "/" .. rank, tostring(field_mac())), found.index)
  end
  return found
end

local function is_of_box(mac)
  return mac:sub(1, 14) == "02:52:46:00:00"
end

local function classify(pinfo, opcode)
  local psn, qpn = field_psn(), field_qpn()
  if not psn or not qpn then
    return nil
  end
  local place = tostring(field_dst()) .. "/" .. qpn.value
  local mac = tostring(field_mac())
  local from_box = is_of_box(mac)
  local ack = opcode == 0x11
  local r = (ack and acks or data)[place]
  -- Behind a router nobody sees the box's MAC, but what goes to a mirror rank on its own QPN is from the box.
  local sender = mirrors[tostring(field_src()) .. "/" .. qpn.value]
  if sender or mirrors[place] then
    r, from_box = sender or mirrors[place], not sender
    place = r.ip .. "/" .. qpn.value .. (from_box and "/back" or "")
  end
  if not r or (not ack and opcode > 0x0b) then
    return noted(from_box)
  end
  -- The receiver counts from start - shift: packets it gets from the box, and its answers, are shifted.
  local shifted = ack ~= from_box
  local index = (psn.value - r.start + (shifted and r.shift or 0)) % PSN_MOD
  local slots = groups[r.key] and groups[r.key].slots or 0
  local found = {r = r, index = index, slot = slots > 0 and index % slots or nil}
  found.role = (ack and "acknowledgement" or "data") .. (from_box and " from the box" or " to the box")
  if not ack then
    local at = place_of(place, mac)
    seen[at] = seen[at] or {}
    found.missing = missing_before(at, index)
    found.repeated = seen[at][index] ~= nil
    seen[at][index] = seen[at][index] or pinfo.number
  end
  return found
end

-- What is wrong with an immediate, as docs/box.md has it; nil if nothing is.
local function fault_of(imm, opcode, from_box)
  local op, type = bit.band(bit.rshift(imm, 8), 15), bit.band(bit.rshift(imm, 4), 15)
  local gives, wants = bit.band(imm, 0x4000) ~= 0, bit.band(imm, 0x8000) ~= 0
  local empty = field_udp().value == 8 + 12 + 4 + 4
  if op > 6 or type > 9 then
    return "unknown " .. (op > 6 and "operation " .. op or "type " .. type)
  elseif op >= 3 and op <= 5 and (type <= 2 or type == 7) then
    return ops[op] .. " of a floating type"
  elseif from_box then
    return not wants and not empty and "data for a rank that does not want it" or nil
  elseif gives == empty then
    return gives and "gives without payload" or "payload without gives"
  elseif opcode == 3 and not (gives and wants) then
    return "a long message that does not give and want"
  end
  return nil
end

-- Takes the immediate apart. Returns what the Info column says of it.
local function immediate(t, imm, opcode, from_box, index)
  local kind, op, type = bit.rshift(imm, 28), bit.band(bit.rshift(imm, 8), 15), bit.band(bit.rshift(imm, 4), 15)
  local call, low = bit.band(bit.rshift(imm, 26), 3), bit.band(imm, 15)
  local gives, wants = bit.band(imm, 0x4000) ~= 0, bit.band(imm, 0x8000) ~= 0
  local part = t:add(f.imm, imm):set_generated()
  for _, row in ipairs({{f.kind, kind}, {f.call, call}, {f.hash, bit.band(bit.rshift(imm, 16), 0x3ff) * 4 + bit.band(bit.rshift(imm, 12), 3)},
                        {f.wants, wants}, {f.gives, gives}, {f.op, op}, {f.type, type}, {f.low, low}}) do
    part:add(row[1], row[2]):set_generated()
  end
  if index and index % 16 ~= low then
    part:add_proto_expert_info(notes.order, string.format("The immediate names index %d modulo 16, the PSN index %d", low, index))
  end
  local fault = fault_of(imm, opcode, from_box)
  if fault then
    part:add_proto_expert_info(notes.immediate, "The immediate is not allowed: " .. fault)
  end
  return string.format("%s call %d %s %s%s%s%s", kinds[kind] or "kind " .. kind, call, types[type] or "type " .. type, ops[op] or "operation " .. op,
                       gives and " gives" or "", wants and " wants" or "", index and index % 16 ~= low and " ORDER" or "")
end

function rf.dissector(_, pinfo, tree)
  local opcode = field_opcode()
  if not opcode then
    return
  end
  if not pinfo.visited and verdict[pinfo.number] == nil then
    verdict[pinfo.number] = classify(pinfo, opcode.value) or false
  end
  local v = verdict[pinfo.number]
  local imm = (opcode.value == 3 or opcode.value == 5) and (rf.prefs.directed or v and v.r.directed) and field_imm()
  imm = imm and imm.range:uint()
  if not v then
    if imm then
      local t = tree:add(rf, "ringfold: a directed group")
      pinfo.cols.info:prepend(immediate(t, imm, opcode.value, is_of_box(tostring(field_mac()))) .. ": ")
    end
    return
  end
  local t = tree:add(rf, string.format("ringfold: job %s group %d rank %d index %d%s", tostring(v.r.job), v.r.group, v.r.rank, v.index,
                                       v.repeated and ", repeat" or ""))
  t:add(f.job, v.r.job):set_generated()
  t:add(f.group, v.r.group):set_generated()
  t:add(f.rank, v.r.rank):set_generated()
  t:add(f.role, v.role):set_generated()
  t:add(f.index, v.index):set_generated()
  if v.slot then
    t:add(f.slot, v.slot):set_generated()
  end
  if v.repeated ~= nil then
    t:add(f.repeated, v.repeated):set_generated()
  end
  local what = v.role:match("^ack") and "ACK" or "data"
  local syndrome = what == "ACK" and v.role:match("from the box$") and field_syndrome()
  local kind = syndrome and math.floor(syndrome.value / 32) % 4
  if kind == 3 then
    what = "NAK"
    t:add_proto_expert_info(notes.nak)
  elseif kind == 1 then
    what = "RNR NAK"
    t:add_proto_expert_info(notes.rnr)
  end
  if v.missing then
    t:add(f.missing, v.missing):set_generated()
    t:add_proto_expert_info(notes.gap, v.missing .. " packets before this one are missing here")
  end
  if v.repeated then
    t:add_proto_expert_info(notes.again)
  end
  local said = imm and ", " .. immediate(t, imm, opcode.value, v.role:match("from the box$") ~= nil, v.index) or ""
  pinfo.cols.info:prepend(string.format("rank %d %s %d%s%s%s, job %s: ", v.r.rank, what, v.index, v.repeated and " again" or "",
                                        v.missing and " after a gap of " .. v.missing or "", said, tostring(v.r.job)))
end
register_postdissector(rf)

-- ---- the control protocol ----

local ctl = Proto("ringfold_ctl", "ringfold control protocol")
local list = {}
local function field(make, name, text, ...)
  local p = make("ringfold_ctl." .. name, text, ...)
  list[#list + 1] = p
  return p
end
local u8, u16, u32, u64 = ProtoField.uint8, ProtoField.uint16, ProtoField.uint32, ProtoField.uint64
local h = {
  version = field(u8, "version", "Version"),
  verb = field(u8, "verb", "Verb", base.DEC, verbs),
  flags = field(u16, "flags", "Flags", base.HEX),
  reply = field(ProtoField.bool, "reply", "Reply", 16, nil, 0x8000),
  unsigned = field(ProtoField.bool, "unsigned", "Without tag", 16, nil, 0x4000),
  open_lab = field(ProtoField.bool, "open_lab", "The box has no keys", 16, nil, 0x2000),
  length = field(u16, "length", "Length"),
  group = field(u16, "group", "Group"),
  job = field(u64, "job", "Job"),
  rank = field(u16, "rank", "Rank"),
  epoch = field(u32, "epoch", "Epoch", base.HEX),
  seq = field(u32, "seq", "Number"),
  token = field(u64, "token", "Token", base.HEX),
  nonce = field(u64, "nonce", "Nonce", base.HEX),
  tag = field(ProtoField.bytes, "tag", "Tag"),
  result = field(u8, "result", "Result", base.DEC, results),
  reason = field(u8, "reason", "Reason", base.DEC, reasons),
  fault = field(u16, "fault", "Rank at fault"),
  fail_index = field(u32, "fail_index", "Index"),
  detail = field(u32, "detail", "Detail"),
  ranks = field(u16, "ranks", "Ranks"),
  joined = field(u16, "joined", "Ranks joined"),
  left = field(u16, "left", "Ranks left"),
  type = field(u8, "type", "Type", base.DEC, types),
  op = field(u8, "op", "Operation", base.DEC, ops),
  mtu = field(u8, "mtu_log2", "log2 of the path MTU"),
  slots = field(u8, "slots_log2", "log2 of the slots"),
  slots_min = field(u8, "slots_min_log2", "log2 of the least slots"),
  port = field(u8, "port", "Port of the data"),
  join_flags = field(u16, "join_flags", "Flags of the group", base.HEX),
  mirror = field(ProtoField.bool, "mirror", "Mirror connection", 16, nil, 0x40),
  directed = field(ProtoField.bool, "directed", "Directed group", 16, nil, 0x80),
  address = field(ProtoField.ipv4, "address", "Address of the data"),
  qpn = field(u32, "qpn", "QPN", base.HEX),
  peer = field(ProtoField.ipv4, "peer", "Address of the successor"),
  peer_qpn = field(u32, "peer_qpn", "QPN of the successor", base.HEX),
  start = field(u32, "start_psn", "First PSN"),
  shift = field(u32, "shift", "PSN shift", base.HEX),
  lease = field(u32, "lease_ms", "Lease, ms"),
  deadline = field(u32, "deadline_ms", "Deadline, ms"),
  window = field(u16, "window", "Window"),
  page = field(u8, "page", "Page", base.DEC, pages),
  missing = field(ProtoField.bytes, "missing", "Set of ranks"),
  code = field(u32, "code", "Code"),
  family = field(u8, "family", "Address family"),
  port_ip = field(ProtoField.ipv4, "port_ip", "Address of the port"),
  box = field(ProtoField.ipv4, "box", "Box at fault"),
  other = field(u16, "other", "Other rank"),
  what = field(u8, "what", "What differs", base.DEC, {[0] = "-", "call", "copies", "length"}),
  other_value = field(u32, "other_value", "Value of the other rank", base.HEX),
  body = field(ProtoField.bytes, "body", "Body"),
}
ctl.fields = list
local short = ProtoExpert.new("ringfold_ctl.short", "Message is shorter than its length or its verb says", expert.group.MALFORMED, expert.severity.ERROR)
local failed = ProtoExpert.new("ringfold_ctl.failed", "The group has failed", expert.group.RESPONSE_CODE, expert.severity.ERROR)
local disagree = ProtoExpert.new("ringfold_ctl.disagree", "The ranks' packets disagree", expert.group.RESPONSE_CODE, expert.severity.ERROR)
ctl.experts = {short, failed, disagree}

-- Fields in a row: {field, offset, bytes}; false if the message is too short.
local function rows(t, tvb, at, what)
  for _, row in ipairs(what) do
    if at + row[2] + row[3] > tvb:len() then
      t:add_proto_expert_info(short)
      return false
    end
    t:add(row[1], tvb(at + row[2], row[3]))
  end
  return true
end

local JOIN = {{h.ranks, 0, 2}, {h.type, 2, 1}, {h.op, 3, 1}, {h.mtu, 4, 1}, {h.slots, 5, 1}, {h.slots_min, 6, 1}, {h.port, 7, 1}, {h.join_flags, 8, 2},
  {h.mirror, 8, 2}, {h.directed, 8, 2}, {h.family, 10, 1},
  {h.address, 12, 4}, {h.qpn, 16, 4}, {h.peer, 20, 4}, {h.peer_qpn, 24, 4}, {h.start, 28, 4}, {h.shift, 32, 4}, {h.lease, 36, 4}, {h.deadline, 40, 4}}
local REQUEST = {[1] = JOIN, [3] = {{h.page, 0, 1}}, [4] = {{h.code, 0, 4}}}
local REPLY = {
  [1] = {{h.ranks, 2, 2}, {h.joined, 4, 2}, {h.deadline, 8, 4}, {h.missing, 12, 16}},
  [2] = {{h.slots, 1, 1}, {h.ranks, 2, 2}, {h.window, 4, 2}, {h.lease, 20, 4}},
  [3] = {{h.reason, 1, 1}, {h.fault, 2, 2}, {h.fail_index, 4, 4}, {h.detail, 8, 4}, {h.missing, 12, 16}},
  [4] = {{h.ranks, 2, 2}, {h.left, 4, 2}, {h.missing, 8, 16}},
  [5] = {{h.ranks, 2, 2}, {h.left, 4, 2}, {h.missing, 8, 16}},
  [7] = {{h.page, 1, 1}},
}

-- Not in the refusal of a request of version 2, which has that version's layout.
local SINCE_3 = {
  [1] = {{h.port_ip, 28, 4}},
  [2] = {{h.port_ip, 24, 4}},
  [3] = {{h.box, 28, 4}, {h.other, 32, 2}, {h.what, 34, 1}, {h.other_value, 36, 4}},
}

local function learn(tvb, reply, key)
  if reply then
    if tvb(HEADER, 1):uint() == 2 then
      groups[key] = {slots = 2 ^ tvb(HEADER + 1, 1):uint()}
      if rf.prefs.save ~= "" then
        save_table()
      end
    end
    return
  end
  local b = HEADER
  local flags = tvb(4, 1):uint() >= 3 and tvb(b + 8, 2):uint() or 0
  local own = tostring(tvb(b + 12, 4):ipv4())
  add_rank({job = tvb(12, 8):uint64(), key = key, group = tvb(10, 2):uint(), rank = tvb(20, 2):uint(), ip = own, qpn = tvb(b + 16, 4):uint(),
            peer_ip = tostring(tvb(b + 20, 4):ipv4()), peer_qpn = tvb(b + 24, 4):uint(), start = tvb(b + 28, 4):uint(), shift = tvb(b + 32, 4):uint(),
            mirror = bit.band(flags, 0x40) ~= 0, directed = bit.band(flags, 0x80) ~= 0})
end

function ctl.dissector(tvb, pinfo, tree)
  local t = tree:add(ctl, tvb())
  pinfo.cols.protocol = "ringfold"
  if not rows(t, tvb, 0, {{h.version, 4, 1}, {h.verb, 5, 1}, {h.flags, 6, 2}, {h.reply, 6, 2}, {h.unsigned, 6, 2}, {h.open_lab, 6, 2}, {h.length, 8, 2},
                          {h.group, 10, 2}, {h.job, 12, 8}, {h.rank, 20, 2}, {h.epoch, 24, 4}, {h.seq, 28, 4}, {h.token, 32, 8}, {h.nonce, 40, 8},
                          {h.tag, 48, 8}}) then
    return tvb:len()
  end
  local verb, rank = tvb(5, 1):uint(), tvb(20, 2):uint()
  local reply = tvb(6, 2):bitfield(0, 1) == 1
  local text = verbs[verb] or "verb " .. verb
  local whole = tvb(8, 2):uint() == tvb:len()
  if not whole then
    t:add_proto_expert_info(short)
  end
  if reply and tvb:len() > HEADER then
    local result = tvb(HEADER, 1):uint()
    text = text .. ": " .. (results[result] or "result " .. result)
    t:add(h.result, tvb(HEADER, 1))
    whole = rows(t, tvb, HEADER, REPLY[result] or {}) and whole
    if tvb(4, 1):uint() >= 3 then
      whole = rows(t, tvb, HEADER, SINCE_3[result] or {}) and whole
    end
    if result == 3 and whole then
      local reason = reasons[tvb(HEADER + 1, 1):uint()] or "?"
      text = text .. " " .. reason
      if reason == "DISAGREE" then
        t:add_proto_expert_info(disagree)
      else
        t:add_proto_expert_info(failed, "The request or the group has failed: " .. reason)
      end
    elseif result == 7 and whole then
      text = text .. " " .. (pages[tvb(HEADER + 1, 1):uint()] or "?")
    end
  elseif not reply then
    whole = rows(t, tvb, HEADER, REQUEST[verb] or {}) and whole
    if verb == 3 and whole then
      text = text .. " " .. (pages[tvb(HEADER, 1):uint()] or "?")
    end
  end
  if tvb:len() > HEADER then
    t:add(h.body, tvb(HEADER))
  end
  if whole and verb == 1 and not pinfo.visited and tvb:len() > HEADER then
    learn(tvb, reply, tostring(tvb(12, 8):uint64()) .. "/" .. tvb(10, 2):uint())
  end
  local who = rank == 0xffff and "tool" or "rank " .. rank
  pinfo.cols.info = string.format("%s, job %s group %d %s", text, tostring(tvb(12, 8):uint64()), tvb(10, 2):uint(), who)
  t:append_text(", " .. text .. ", " .. who)
  return tvb:len()
end

-- Port 4791 belongs to RoCE; payloads that begin with the magic are ours.
local udp = DissectorTable.get("udp.port")
local roce = udp:get_dissector(PORT)
local switch = Proto("ringfold_port", "ringfold or RoCE")
function switch.dissector(tvb, pinfo, tree)
  if tvb:len() >= 4 and tvb(0, 4):uint() == MAGIC then
    return ctl.dissector(tvb, pinfo, tree)
  end
  return roce:call(tvb, pinfo, tree)
end
udp:add(PORT, switch)
