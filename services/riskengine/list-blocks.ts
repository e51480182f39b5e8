// Every standing condition that denies new risk now. The conditions live in the engine's memory, so this is answered here and not beside it; it is
// answered in small parts, between which the engine goes on deciding, and both what is asked about and what is reported have a bound.
import { Fault } from "../../contracts/src/fault.ts";
import type { Block, Blocks, ListBlocksRequest } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import type { BlockedGap } from "../../contracts/src/records/block.ts";
import { blockWords } from "../../core/engine/block-words.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StandingBlock } from "../../core/engine/standing.ts";
import { rangeText } from "../../core/foreign/numbering.ts";
import { drillFundId } from "../../core/halts/halts.ts";
import type { StoredFlatten } from "../../ports/flatten-records.ts";
import { closedFunds, whyFlattening } from "../shared/flattening.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { breathe } from "../shared/waiting.ts";
import type { HaltWatch } from "./halt-watch.ts";
import type { GroupCommit } from "./journal/group-commit.ts";

/** Reported in one answer at most. */
const blocksMax = 2_000;
/** Instruments that one question reads, those that the fund holds first. */
const symbolsMax = 1_000;
const fundsPerTurn = 10;
const symbolsPerTurn = 50;
/** Currencies of funds that one question without a fund reads. */
const currenciesMax = 10;
/** One at a time: a second one would double what the engine gives away between two orders. */
const waitingMax = 20;

interface ListBlocksOptions {
  readonly ports: Pick<ServicePorts, "clock" | "store" | "timers">;
  readonly engine: Pick<Engine, "blocks">;
  readonly watch: Pick<HaltWatch, "freshen">;
  readonly commit: Pick<GroupCommit, "complaint">;
}

export function createListBlocks({ ports, engine, watch, commit }: ListBlocksOptions) {
  const { clock, store, timers } = ports;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function now() {
    const at = clock.now();
    watch.freshen(at);
    return at;
  }

  async function inTurns<Item>(
    items: readonly Item[],
    perTurn: number,
    ask: (some: readonly Item[]) => readonly StandingBlock[],
  ): Promise<StandingBlock[]> {
    const found: StandingBlock[] = [];
    for (let from = 0; from < items.length; from += perTurn) {
      if (from > 0) await breathe(timers);
      found.push(...ask(items.slice(from, from + perTurn)));
    }
    return found;
  }

  async function list({ fund_id: asked }: ListBlocksRequest): Promise<Blocks> {
    const all = engine.blocks.funds();
    const funds = all.filter(({ fundId }) => (asked === undefined ? fundId !== drillFundId : fundId === asked));
    if (asked !== undefined && funds.length === 0) {
      throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(line(asked, 128))}.`, { retry: "never" });
    }
    const firm = engine.blocks.ofFirm(now());
    const ofFunds = await inTurns(funds, fundsPerTurn, (some) =>
      some.flatMap(({ fundId }) => engine.blocks.ofFund(fundId, now())),
    );
    // A price is every fund's; a rate is that of all funds with the same currency.
    const byCurrency = new Map(funds.map((fund) => [fund.currency, fund]));
    const ofSymbols: StandingBlock[] = [];
    for (const { fundId } of [...byCurrency.values()].slice(0, currenciesMax)) {
      const symbols = engine.blocks.symbols(asked, symbolsMax);
      ofSymbols.push(
        ...(await inTurns(symbols, symbolsPerTurn, (some) => engine.blocks.ofSymbols(fundId, some, now()))),
      );
    }
    const flatten = commit.complaint() ?? (await newestFlatten());
    const trouble = flatten instanceof Fault ? storeBlocks(flatten) : [];
    const fundIds = new Set(funds.map(({ fundId }) => fundId));
    const flattening = flatten instanceof Fault ? [] : flattenBlocks(flatten, fundIds);
    const found = [...trouble, ...unique([...firm, ...ofFunds, ...flattening, ...ofSymbols]).map(messageOf)];
    return { blocks: found.slice(0, blocksMax), more: found.length > blocksMax, as_of: format(clock.now()) };
  }

  /** A store that does not answer is a block by itself. */
  async function newestFlatten(): Promise<StoredFlatten | undefined | Fault> {
    try {
      return await store.transact("flatten.look", (unit) => unit.flattens.find());
    } catch (thrown) {
      if (thrown instanceof Fault) return thrown;
      throw thrown;
    }
  }

  return (request: ListBlocksRequest): Promise<Blocks> => {
    if (waiting >= waitingMax) {
      const sentence = `${waiting} questions about blocks wait, as many as may. Ask again later.`;
      return Promise.reject(new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" }));
    }
    waiting += 1;
    const answering = last.then(() => list(request));
    last = answering.then(
      () => undefined,
      () => undefined,
    );
    return answering.finally(() => {
      waiting -= 1;
    });
  };
}

/** While nothing can be written nothing is decided: every order is refused, exits too. */
function storeBlocks(fault: Fault): readonly Block[] {
  const { ends, command, sinceUnknown } = blockWords(fault.code, {});
  return [{ code: fault.code, scope: "firm", reason: fault.message, since_unknown: sinceUnknown, ends, command }];
}

/** Order management refuses it, not the engine; whoever asks why nothing is bought finds it here as well. */
function flattenBlocks(flatten: StoredFlatten | undefined, fundIds: ReadonlySet<string>): readonly StandingBlock[] {
  if (flatten === undefined) return [];
  return closedFunds(flatten)
    .filter((fundId) => fundIds.has(fundId))
    .map((fundId) => ({
      code: "ORDER_FUND_FLATTENING",
      scope: "fund",
      fundId,
      reason: whyFlattening(flatten, fundId),
      since: flatten.at,
    }));
}

/** Widest first; what holds for the firm is found with every fund, and reported once. */
function unique(blocks: readonly StandingBlock[]): readonly StandingBlock[] {
  const ranks = ["firm", "fund", "strategy", "symbol"];
  const keyOf = ({ scope, fundId, strategyId, symbol, code, blockId }: StandingBlock): string =>
    [ranks.indexOf(scope), fundId ?? "", strategyId ?? "", symbol ?? "", code, blockId ?? ""].join("\n");
  const first = new Map<string, StandingBlock>();
  for (const block of blocks) if (!first.has(keyOf(block))) first.set(keyOf(block), block);
  return [...first].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, block]) => block);
}

function messageOf(block: StandingBlock): Block {
  const { code, scope, fundId, strategyId, symbol, blockId, reason, since } = block;
  const { ends, command, sinceUnknown } = blockWords(code, block);
  return {
    code,
    scope,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    block_id: blockId,
    reason,
    since: since === undefined ? undefined : format(since),
    since_unknown: since === undefined ? sinceUnknown : undefined,
    ends,
    command,
    gap: block.gap && gapMessage(block.gap),
  };
}

function gapMessage({ source, kind, missing, refused }: BlockedGap): Block["gap"] {
  return { source, kind, missing: missing.map(rangeText), refused };
}
