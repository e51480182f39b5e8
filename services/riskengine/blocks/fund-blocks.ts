// Blocks of a whole fund that the engine opens and ends by itself: the journal first, then the books, then the event with its alarm.
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { BlockedGap, RiskBlock, RiskBlockEnded } from "../../../contracts/src/records/block.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { ApprovalEvents } from "../approvals/approval-events.ts";
import type { GroupCommit } from "../journal/group-commit.ts";
import { endOf } from "./fill-blocks.ts";

interface FundBlocksOptions {
  readonly ports: Pick<ServicePorts, "clock">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly commit: Pick<GroupCommit, "addAlone">;
  readonly events: Pick<ApprovalEvents, "tellInTime">;
}

export interface FundBlocks {
  open(about: Pick<RiskBlock, "block_id" | "cause" | "fund_id" | "reason" | "value">): Promise<void>;
  /** A gap under its id: opened, or replaced by what it is by now. */
  openGap(about: Pick<RiskBlock, "block_id" | "fund_id" | "reason">, gap: Omit<BlockedGap, "as_of">): Promise<void>;
  end(block: RiskBlock, reason: string): Promise<void>;
}

const encoder = new TextEncoder();

export function createFundBlocks({ ports, engine, commit, events }: FundBlocksOptions): FundBlocks {
  const { acceptance } = engine;

  async function put(block: RiskBlock, at: Instant): Promise<void> {
    const payload = encoder.encode(JSON.stringify(block));
    await commit.addAlone({ kind: "block", at, fundId: block.fund_id, orderId: "", payload }, () =>
      acceptance.open(block),
    );
    events.tellInTime({ kind: "block", payload: block });
  }

  return {
    open({ reason, ...about }) {
      const at = ports.clock.now();
      return put({ ...about, reason: line(reason, 2_000), at: format(at) }, at);
    },
    openGap({ reason, ...about }, gap) {
      const at = ports.clock.now();
      const as_of = format(at);
      const before = acceptance.block(about.block_id);
      const opened = { ...about, cause: "EVENT_GAP", reason: line(reason, 2_000), at: before?.at ?? as_of } as const;
      return put({ ...opened, gap: { ...gap, as_of } }, at);
    },
    async end(block, reason) {
      const at = ports.clock.now();
      const ended: RiskBlockEnded = { ...endOf(block), ended_by: "riskengine", reason, at: format(at) };
      const payload = encoder.encode(JSON.stringify(ended));
      let isOpen = true;
      await commit.addAlone({ kind: "unblock", at, fundId: block.fund_id, orderId: "", payload }, () => {
        // An operator may have been faster.
        isOpen = acceptance.end(ended);
      });
      if (isOpen) events.tellInTime({ kind: "unblock", payload: ended });
    },
  };
}
