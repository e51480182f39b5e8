// An operator accepts what was booked and blocks new risk: a person's decision with a reason, in the journal first, because the books follow it, then
// reported. Accepting one block accepts what it is about and nothing that came since: of a gap in a publisher's numbers those that were shown. Several are
// accepted together under one proof, which names exactly them.
import { messageOf } from "../../../contracts/src/fault.ts";
import type {
  AcceptBlockRequest,
  AcceptedBlock,
  ShownGap,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { RiskBlock, RiskBlockEnded } from "../../../contracts/src/records/block.ts";
import { needsSecondFactor } from "../../../core/blocks/block-book.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { rangeOf, rangesWithout, rangeText } from "../../../core/foreign/numbering.ts";
import type { Identity, NamedAction } from "../../../ports/identity.ts";
import type { DeniedAnswer, RpcCall } from "../../../ports/rpc.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { Attempt, Attempts } from "../../shared/attempts.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { ApprovalEvents } from "../approvals/approval-events.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { endOf } from "./fill-blocks.ts";

interface AcceptBlockOptions {
  readonly ports: Pick<ServicePorts, "clock" | "log" | "store">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly commit: Pick<GroupCommit, "addAlone">;
  readonly attempts: Attempts;
  readonly events: Pick<ApprovalEvents, "tell" | "tellInTime">;
}

type AcceptBlock = (request: AcceptBlockRequest, call: RpcCall) => Promise<AcceptedBlock | DeniedAnswer>;

const encoder = new TextEncoder();

export function createAcceptBlock({ ports, engine, commit, attempts, events }: AcceptBlockOptions): AcceptBlock {
  const { acceptance } = engine;
  /** One at a time: of two at once the second hears what the first did. */
  let last: Promise<unknown> = Promise.resolve();

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

  /** All that are open, in the order asked; or the first that is not. */
  async function found(ids: readonly string[], attempt: Attempt): Promise<readonly RiskBlock[] | DeniedAnswer> {
    const blocks: RiskBlock[] = [];
    for (const blockId of ids) {
      const block = acceptance.block(blockId);
      if (block === undefined) return notOpen(acceptance.ended(blockId), blockId, attempt, attempts);
      blocks.push(block);
    }
    return blocks;
  }

  /** Asked last: what would be refused anyway uses no proof up. */
  async function proved(
    ids: readonly string[],
    { step_up_proof: proof, reason, gaps = [] }: AcceptBlockRequest,
    attempt: Attempt,
  ): Promise<DeniedAnswer | undefined> {
    const shown = { identity: attempt.identity, named: acceptAction(ids, reason, gaps), at: ports.clock.now() };
    const redeem = (unit: UnitOfWork) => unit.stepUps.redeem({ ...shown, proof: proof === "" ? undefined : proof });
    const denial = await ports.store.transact("risk.accept", redeem);
    return denial === undefined ? undefined : attempts.refused(attempt, denial);
  }

  async function accept(request: AcceptBlockRequest, identity: Identity): Promise<AcceptedBlock | DeniedAnswer> {
    const { block_id: blockId, reason, more_block_ids: more = [], gaps = [] } = request;
    const ids = [...new Set([blockId, ...more])];
    const attempt: Attempt = { identity, verb: "AcceptBlock", target: blockId, reason };
    const blocks = await found(ids, attempt);
    if ("denial" in blocks) return blocks;
    if (line(reason, 2_000).trim() === "") {
      const missing = "A block is not accepted without a reason.";
      return attempts.refused(attempt, { code: "REASON_MISSING", reason: missing });
    }
    const changed = blocks.find((block) => missesMore(block, gaps));
    if (changed !== undefined) return attempts.refused(attempt, gapChanged(changed, gaps));
    if (blocks.some(needsSecondFactor)) {
      const refused = await proved(ids, request, attempt);
      if (refused !== undefined) return refused;
    }
    const at = format(ports.clock.now());
    const by = { ended_by: identity.actor, reason: line(reason, 2_000), at };
    // What has ended by itself meanwhile is none to accept any more, and harms nobody.
    const left = blocks.filter((block) => acceptance.block(block.block_id) !== undefined);
    // Of a gap what was shown, whatever it says by now.
    const endOne = (block: RiskBlock): Promise<void> =>
      end({ ...endOf(block), ...acceptedOf(block), ...by }, block.fill?.order_id ?? "", {
        ...attempt,
        target: block.block_id,
      });
    await Promise.all(left.map(endOne));
    const [first] = blocks as readonly [RiskBlock];
    const { cause, fund_id, symbol, reason: about } = first;
    const said = { about, accepted_by: by.ended_by, at, also: ids.slice(1), gaps: left.flatMap(acceptedGap) };
    return { block_id: blockId, cause, fund_id, symbol, ...said };
  }

  return (request, { identity }) => {
    const accepting = last.then(() => accept(request, identity));
    // That one failed is its own caller's business.
    last = accepting.catch(() => undefined);
    return accepting;
  };
}

/** What a proof of the second factor must name: exactly those that it accepts, and of gaps exactly what was shown. */
export function acceptAction(blockIds: readonly string[], reason: string, gaps: readonly ShownGap[] = []): NamedAction {
  const shown = gaps.map(({ block_id, missing = [] }) => ({ block_id, missing: [...missing] }));
  const parameters = { block_ids: [...blockIds], reason, ...(shown.length > 0 && { gaps: shown }) };
  return { action: "AcceptBlock", parameters };
}

/** Whether something is missing in it that was not shown; what has come since is none to accept any more. */
function missesMore({ block_id: blockId, gap }: RiskBlock, shown: readonly ShownGap[]): boolean {
  const named = shown
    .filter((one) => one.block_id === blockId)
    .flatMap(({ missing = [] }) => missing.flatMap((text) => rangeOf(text) ?? []));
  return gap !== undefined && rangesWithout(gap.missing, named).length > 0;
}

function gapChanged({ block_id: blockId, gap }: RiskBlock, shown: readonly ShownGap[]) {
  const isNamed = shown.some((one) => one.block_id === blockId);
  const now = gap?.missing.map(rangeText).join(", ") ?? "";
  const said = isNamed ? "Of" : "The acceptance of a gap names what it showed, and of";
  const reason = line(
    `${said} block ${blockId} these numbers are missing now: ${now}. Look again, and accept what you see.`,
    2_000,
  );
  return { code: "GAP_CHANGED", reason } as const;
}

const acceptedOf = ({ gap }: RiskBlock): Pick<RiskBlockEnded, "accepted_missing"> =>
  gap === undefined ? {} : { accepted_missing: gap.missing };

function acceptedGap({ block_id, gap }: RiskBlock): readonly ShownGap[] {
  return gap === undefined ? [] : [{ block_id, missing: gap.missing.map(rangeText) }];
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
