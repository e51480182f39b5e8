// Blocks of a whole fund that the engine opens and ends by itself: the journal first, then the books, then the event with its alarm.
import { format } from "../../../contracts/src/instant.ts";
import type { RiskBlock, RiskBlockEnded } from "../../../contracts/src/records/block.ts";
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
  open(about: Pick<RiskBlock, "block_id" | "cause" | "fund_id" | "reason">): Promise<void>;
  end(block: RiskBlock, reason: string): Promise<void>;
}

const encoder = new TextEncoder();

export function createFundBlocks({ ports, engine, commit, events }: FundBlocksOptions): FundBlocks {
  const { acceptance } = engine;
  return {
    async open({ reason, ...about }) {
      const at = ports.clock.now();
      const block: RiskBlock = { ...about, reason: line(reason, 2_000), at: format(at) };
      const payload = encoder.encode(JSON.stringify(block));
      await commit.addAlone({ kind: "block", at, fundId: block.fund_id, orderId: "", payload }, () =>
        acceptance.open(block),
      );
      events.tellInTime({ kind: "block", payload: block });
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
