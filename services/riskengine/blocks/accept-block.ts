// An operator accepts what was booked and blocks new risk: a person's decision with a reason, in the journal first, because the books follow it, then
// reported. Accepting one block accepts what it is about and nothing that came since.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { AcceptBlockRequest, AcceptedBlock } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RiskBlockEnded } from "../../../contracts/src/records/block.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { Attempt, Attempts } from "../../shared/attempts.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { ApprovalEvents } from "../approvals/approval-events.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { endOf } from "./fill-blocks.ts";

interface AcceptBlockOptions {
  readonly ports: Pick<ServicePorts, "clock" | "log">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly commit: Pick<GroupCommit, "addAlone">;
  readonly attempts: Attempts;
  readonly events: Pick<ApprovalEvents, "tell" | "tellInTime">;
}

type AcceptBlock = (request: AcceptBlockRequest, call: RpcCall) => Promise<AcceptedBlock | DeniedAnswer>;

const encoder = new TextEncoder();

export function createAcceptBlock({ ports, engine, commit, attempts, events }: AcceptBlockOptions): AcceptBlock {
  const { acceptance } = engine;
  /** Of two at once the second hears what the first did. */
  const underWay = new Map<string, Promise<void>>();

  async function end(ended: RiskBlockEnded, orderId: string, attempt: Attempt): Promise<void> {
    const payload = encoder.encode(JSON.stringify(ended));
    const entry = { kind: "unblock", at: ports.clock.now(), fundId: ended.fund_id, orderId, payload } as const;
    await commit.addAlone(entry, () => void acceptance.end(ended));
    const event = { kind: "unblock", payload: ended } as const;
    try {
      await events.tell(event, (unit) => attempts.allowed(unit, attempt));
    } catch (thrown) {
      // It has ended, whoever hears of it later.
      ports.log.warn("the end of a block is reported later", { block_id: ended.block_id, error: messageOf(thrown) });
      events.tellInTime(event);
      throw thrown;
    }
  }

  return async ({ block_id: blockId, reason }, { identity }) => {
    const attempt: Attempt = { identity, verb: "AcceptBlock", target: blockId, reason };
    for (let first = underWay.get(blockId); first !== undefined; first = underWay.get(blockId)) {
      // What it came to is read below; that it failed is its own caller's business.
      await first.catch(() => undefined);
    }
    const block = acceptance.block(blockId);
    if (block === undefined) return notOpen(acceptance.ended(blockId), blockId, attempt, attempts);
    if (line(reason, 2_000).trim() === "") {
      const missing = "A block is not accepted without a reason.";
      return attempts.refused(attempt, { code: "REASON_MISSING", reason: missing });
    }
    const at = format(ports.clock.now());
    const ended: RiskBlockEnded = { ...endOf(block), ended_by: identity.actor, reason: line(reason, 2_000), at };
    const ending = end(ended, block.fill?.order_id ?? "", attempt).finally(() => underWay.delete(blockId));
    underWay.set(blockId, ending);
    await ending;
    return {
      block_id: blockId,
      cause: block.cause,
      fund_id: block.fund_id,
      symbol: block.symbol,
      about: block.reason,
      accepted_by: ended.ended_by,
      at,
    };
  };
}

async function notOpen(
  ended: RiskBlockEnded | undefined,
  blockId: string,
  attempt: Attempt,
  attempts: Attempts,
): Promise<DeniedAnswer> {
  const shown = line(blockId, 128);
  if (ended === undefined) {
    const sentence = `There is no block ${JSON.stringify(shown)}. ctl riskengine blocks list shows those that are open.`;
    throw await attempts.notFound(attempt, sentence);
  }
  const reason = `Block ${shown} was ended at ${ended.at} by ${ended.ended_by}: ${ended.reason}`;
  return attempts.refused(attempt, { code: "BLOCK_NOT_OPEN", reason });
}
