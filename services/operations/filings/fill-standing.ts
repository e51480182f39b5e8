// What a fill waits for before it may be reported: the risk engine to book it, and an operator to accept it where it is blocked. Read from the engine's
// journal, in which a block stands right before its fill, so that none is missed.
import { Fault } from "../../../contracts/src/fault.ts";
import { riskBlock } from "../../../contracts/src/records/block.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { pollUntil } from "../../shared/waiting.ts";

/** An order has some entries; one with more is amended by a machine that does nothing else. */
const entriesMax = 10_000;
/** A fill has one block for each cause, in one batch with it. */
const entriesBefore = 64;
const firstPollMs = 20;
const pollMsMax = 1_000;
const pollsMax = 12;
const decoder = new TextDecoder();

/** The blocks that it was booked with. Rejects when the engine has not booked it for some seconds: it is heard again later. */
export async function blocksOf(
  { riskStore, timers }: Pick<ServicePorts, "riskStore" | "timers">,
  orderId: string,
  fillId: string,
): Promise<readonly string[]> {
  const polling = { timers, everyMs: firstPollMs, everyMsMax: pollMsMax, timesMax: pollsMax };
  const booked = await pollUntil(polling, async () => {
    const rows = await riskStore.entriesOfOrder(orderId, entriesMax);
    return rows.find((row) => row.kind === "fill" && row.fillId === fillId);
  });
  if (booked === undefined) {
    const sentence = `The risk engine has not booked the fill ${fillId} of order ${orderId} yet.`;
    throw new Fault("SERVICE_UNAVAILABLE", sentence, { retry: "later" });
  }
  const from = booked.id - BigInt(entriesBefore) - 1n;
  const before = await riskStore.entries(from < 0n ? 0n : from, entriesBefore);
  const blocks = before
    .filter(({ kind, id }) => kind === "block" && id < booked.id)
    .map(({ payload }) => riskBlock.parse(JSON.parse(decoder.decode(payload))))
    .filter(({ fill }) => fill?.fill_id === fillId);
  return [...new Set(blocks.map(({ block_id: blockId }) => blockId))];
}
