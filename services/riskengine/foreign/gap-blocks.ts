// Gaps in the numbering of foreign publishers keep their fund from new risk: an event that was acknowledged and is missing may be a fill, an order that is
// still working, or a loss. Which gaps there are is in the store, whoever found them; here they become blocks that an operator accepts.
//
//  1. A gap blocks when it has stayed open for `graceMs`, because events may arrive in another order than they were numbered in.
//  2. The gap's id is the block's: after a crash between the two nothing is blocked twice, and nothing that was accepted is blocked again.
//  3. What has come ends its block by itself. What an operator accepted is forgotten in the store.
//  4. A wider gap is blocked before the one that it took in is ended.
import { messageOf } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { acceptGap, type OpenGap, openGaps } from "../../../core/foreign/numbering.ts";
import type { ForeignStream } from "../../../ports/foreign-records.ts";
import type { Health } from "../../../ports/health.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { FundBlocks } from "../blocks/fund-blocks.ts";

interface GapBlocksOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly blocks: FundBlocks;
}

interface GapBlocks {
  /** A foreign event was counted. */
  wake(): void;
  /** A complaint while gaps cannot be read or blocked: then none would be found. */
  health(): Health;
  stop(): Promise<void>;
}

/** How long a missing number may still come. */
const graceMs = 2_000;
/** While something is missing, and otherwise. */
const lookEveryMs = { missing: 500, idle: 3_000 };
/** A look that fails for so long is said. */
const blindMsMax = 5_000;
const ended = "Nothing of the gap is missing any more, or a wider one has taken it in.";

type FoundGap = ForeignStream & OpenGap;

export function watchGapBlocks({ ports, engine, blocks }: GapBlocksOptions): GapBlocks {
  const { store, clock, log } = ports;
  const { acceptance } = engine;
  let lookedAt = clock.now();
  let trouble = "";

  /** Whether anything is missing. */
  async function look(ending: AbortSignal): Promise<boolean> {
    const positions = await store.transact("risk.foreign-look", (unit) => unit.foreign.withGaps(), {
      isOneStatement: true,
    });
    const gaps = positions.flatMap((position) =>
      openGaps(position).map(
        (gap): FoundGap => ({ ...gap, source: position.source, fundId: position.fundId, kind: position.kind }),
      ),
    );
    for (const gap of gaps) {
      if (ending.aborted) return true;
      if (acceptance.ended(gap.gapId) !== undefined) await forget(gap);
      else if (acceptance.block(gap.gapId) === undefined && isDue(gap)) await open(gap);
    }
    const left = new Set(gaps.map(({ gapId }) => gapId));
    for (const block of acceptance.ofCause("EVENT_GAP")) {
      if (!left.has(block.block_id)) await blocks.end(block, ended);
    }
    return gaps.length > 0;
  }

  /** A clock that was set back is no reason to wait longer. */
  function isDue({ since }: FoundGap): boolean {
    const openMs = millisecondsBetween(since, clock.now());
    return openMs >= graceMs || openMs < 0;
  }

  async function open({ gapId, fundId, source, kind, numbers }: FoundGap): Promise<void> {
    const reason = `${source} numbers its ${kind} of ${fundId}, and ${numbers} never came: an event may be lost. Have it sent again from there.`;
    log.warn("events of a foreign publisher are missing", { block_id: gapId, reason });
    await blocks.open({ block_id: gapId, cause: "EVENT_GAP", fund_id: fundId, reason });
  }

  async function forget({ source, fundId, kind, gapId }: FoundGap): Promise<void> {
    const stream = { source, fundId, kind };
    await store.transact("risk.foreign", async (unit) => {
      const position = await unit.foreign.lock(stream);
      if (position !== undefined) await unit.foreign.put(stream, acceptGap(position, gapId), clock.now());
    });
  }

  async function run(ending: AbortSignal): Promise<number> {
    try {
      const isMissing = await look(ending);
      lookedAt = clock.now();
      trouble = "";
      return isMissing ? lookEveryMs.missing : lookEveryMs.idle;
    } catch (thrown) {
      trouble = messageOf(thrown);
      throw thrown;
    }
  }

  const loop = startLoop({
    ports,
    what: {
      failing: "gaps of foreign publishers cannot be read or blocked yet",
      working: "gaps of foreign publishers can be read and blocked again",
    },
    firstAfterMs: 0,
    run,
    troubleMsMin: lookEveryMs.missing,
    troubleMsMax: lookEveryMs.missing,
  });
  return {
    wake: loop.wake,
    health() {
      const isBlind = trouble !== "" && millisecondsBetween(lookedAt, clock.now()) >= blindMsMax;
      return isBlind
        ? { status: "ok", complaint: `Gaps in the numbers of foreign publishers cannot be looked for: ${trouble}.` }
        : { status: "ok" };
    },
    stop: loop.stop,
  };
}
