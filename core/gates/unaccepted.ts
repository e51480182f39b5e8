// What was booked and nobody has vouched for: no new risk in its symbol, or in its fund, until an operator has accepted it. Judged with the exposure, so that
// an order which waited for the risk officer is judged by what was booked meanwhile.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Notes } from "../state/gate.ts";
import type { FundView } from "../state/view.ts";
import { quoted } from "../state/wording.ts";

export function unacceptedDenial({ openBlock }: FundView, notes: Notes): Denial | undefined {
  if (openBlock === undefined) return undefined;
  const { blockId, reason, symbol, count } = openBlock;
  notes.word("block_id", blockId);
  const where = symbol === "" ? "the fund" : quoted(symbol);
  const others = count > 1 ? ` ${count - 1} more wait.` : "";
  const what = `New risk in ${where} waits until an operator accepts block ${blockId}`;
  return { code: "FILL_NOT_ACCEPTED", reason: `${what}: ${reason}${others}` };
}
