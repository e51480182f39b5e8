// A fill that cannot be taken holds those of its fund that come behind it (decision 0050): the position lacks trades that were acknowledged, so the fund takes
// no new risk until they are booked.
//
//  1. A fund whose fills are held has an open block, within the time of one commit. An operator may accept it for the fill at which it stopped; another one
//     that cannot be taken blocks anew.
//  2. The block's id is the fill's event: after a restart nothing that was accepted is blocked again.
//  3. It ends by itself when nothing of the fund is held, and never before the subscription has said what is: a restart ends none.
import { messageOf } from "../../../contracts/src/fault.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { HeldLane } from "../../../ports/bus.ts";
import type { Health } from "../../../ports/health.ts";
import { fundOfLane } from "../../shared/fund-lane.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { FundBlocks } from "../blocks/fund-blocks.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

interface HeldFillsOptions {
  readonly ports: Pick<ServicePorts, "timers" | "log" | "crash" | "random">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly blocks: FundBlocks;
  readonly reference: Pick<ReferenceWatch, "fund">;
}

export interface HeldFills {
  /** What the subscription of fills says. */
  held(lanes: ReadonlyMap<string, HeldLane>): void;
  /** A complaint while a fund cannot be blocked. */
  health(): Health;
  stop(): Promise<void>;
}

/** After a block that could not be written. */
const againMs = 500;

export function watchHeldFills({ ports, engine, blocks, reference }: HeldFillsOptions): HeldFills {
  const { acceptance } = engine;
  /** By fund; undefined before the subscription has said anything. */
  let known: ReadonlyMap<string, HeldLane> | undefined;
  let trouble = "";

  async function compare(held: ReadonlyMap<string, HeldLane>): Promise<void> {
    const open = acceptance.ofCause("FILLS_HELD");
    for (const [fundId, lane] of held) {
      if (open.some((block) => block.fund_id === fundId)) continue;
      const blockId = idOf(lane);
      if (acceptance.ended(blockId) !== undefined) continue;
      const reason = `The fills of ${fundId} are not booked: ${lane.sentence}. Publish it as it should be and discard this one, or try it again: ctl operations parked list.`;
      ports.log.warn("the fills of a fund are held", { fund_id: fundId, reason });
      await blocks.open({ block_id: blockId, cause: "FILLS_HELD", fund_id: fundId, reason });
    }
    for (const block of open) {
      if (!held.has(block.fund_id)) await blocks.end(block, "Nothing of the fund's fills is held any more.");
    }
  }

  /** Invariant 2, wherever the event's id can be one. */
  function idOf({ eventId }: HeldLane): string {
    const id = idText.safeParse(`held-${eventId}`);
    return id.success ? id.data : `held-${ports.random.uuid()}`;
  }

  async function run(): Promise<undefined> {
    try {
      if (known !== undefined) await compare(known);
      trouble = "";
    } catch (thrown) {
      trouble = messageOf(thrown);
      throw thrown;
    }
  }

  const what = {
    failing: "a fund whose fills are held cannot be blocked yet",
    working: "funds whose fills are held can be blocked again",
  };
  const loop = startLoop({ ports, what, run, troubleMsMin: againMs, troubleMsMax: againMs });
  return {
    held(lanes) {
      const byFund = new Map<string, HeldLane>();
      for (const [lane, held] of lanes) {
        const fundId = fundOfLane(lane);
        // Who is nobody's fund takes no risk anyway.
        if (fundId !== undefined && reference.fund(fundId) !== undefined) byFund.set(fundId, held);
      }
      const before = known;
      known = byFund;
      if (before !== undefined && before.size === 0 && byFund.size === 0) return;
      loop.wake();
    },
    health: () =>
      trouble === ""
        ? { status: "ok" }
        : { status: "ok", complaint: `A fund whose fills are held cannot be blocked: ${trouble}.` },
    stop: loop.stop,
  };
}
