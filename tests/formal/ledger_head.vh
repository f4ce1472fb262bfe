// rf_ledger_head, with ledger_response.vh: the group being processed is the one that was selected.
always @*
  if (!rst && look_valid_q) assert (look_q == {{GROUPS-1{1'b0}}, 1'b1} << look_group_q);
