// The numbering of foreign publishers, in a transaction of the memory store.
import type { Instant } from "../../../contracts/src/instant.ts";
import type { BookedFill, FillBusted } from "../../../contracts/src/records/order.ts";
import type { ForeignRecords, ForeignStream, KeptHandOver, KeptPosition } from "../../../ports/foreign-records.ts";
import type { RecordTools } from "../layered-map.ts";

type Kept = ForeignStream & KeptPosition;
type KeptAt = Kept & { readonly at: Instant };

interface PriceTurnRow {
  readonly symbol: string;
  readonly first: string;
  readonly second?: string | undefined;
  readonly changed: number;
}

export interface ForeignTables {
  readonly positions: Map<string, KeptAt>;
  readonly unnumbered: Map<string, Instant>;
  /** By source and bust_id. */
  readonly busts: Map<string, { readonly source: string; readonly bust: FillBusted }>;
  readonly fills: Map<string, BookedFill>;
  /** By their numbers. */
  readonly handOvers: Map<string, KeptHandOver>;
  /** By symbol. */
  readonly priceTurns: Map<string, PriceTurnRow>;
}

export function foreignTables(): ForeignTables {
  return {
    positions: new Map(),
    unnumbered: new Map(),
    busts: new Map(),
    fills: new Map(),
    handOvers: new Map(),
    priceTurns: new Map(),
  };
}

export function foreignChanges(tables: ForeignTables, tools: RecordTools): ForeignRecords {
  return {
    ...positionChanges(tables, tools),
    ...bustChanges(tables, tools),
    ...ownerChanges(tables, tools),
    ...turnChanges(tables, tools),
  };
}

type BustPart = Pick<ForeignRecords, "keepBust" | "bust" | "bustsOf" | "keepFill" | "fill">;

function bustChanges(tables: ForeignTables, { inTurn, lock, table }: RecordTools): BustPart {
  const busts = table("foreign_bust", tables.busts);
  const fills = table("foreign_fill", tables.fills);
  const key = (source: string, bustId: string): string => `${source}\0${bustId}`;
  return {
    keepBust: (source, bust) =>
      inTurn(async () => {
        await lock(`foreign bust ${key(source, bust.bust_id)}`);
        if (busts.has(key(source, bust.bust_id))) return false;
        busts.set(key(source, bust.bust_id), { source, bust });
        return true;
      }),
    bust: (source, bustId) => inTurn(async () => busts.get(key(source, bustId))?.bust),
    bustsOf: (source, fillId) =>
      inTurn(async () =>
        busts
          .sorted()
          .filter((kept) => kept.source === source && kept.bust.fill_id === fillId)
          .map(({ bust }) => bust),
      ),
    keepFill: (fill) =>
      inTurn(async () => {
        await lock(`foreign fill ${fill.fill_id}`);
        if (!fills.has(fill.fill_id)) fills.set(fill.fill_id, fill);
      }),
    fill: (fillId) => inTurn(async () => fills.get(fillId)),
  };
}

type OwnerPart = Pick<ForeignRecords, "handOvers" | "handOver">;

function ownerChanges(tables: ForeignTables, { inTurn, lock, table }: RecordTools): OwnerPart {
  const handOvers = table("order_hand_over", tables.handOvers);
  return {
    handOvers: (orderIds) =>
      inTurn(async () =>
        handOvers
          .sorted()
          .filter(({ orderId }) => orderIds === undefined || orderId === undefined || orderIds.includes(orderId)),
      ),
    handOver: (handOver) =>
      inTurn(async () => {
        await lock("order hand over");
        const all = handOvers.sorted();
        const isClaim = handOver.from === "";
        if (isClaim && all.some(({ from, orderId }) => from === "" && orderId === handOver.orderId)) return false;
        handOvers.set(String(all.length).padStart(9, "0"), handOver);
        return true;
      }),
  };
}

type TurnPart = Pick<ForeignRecords, "priceTurns" | "putPriceTurns">;

function turnChanges(tables: ForeignTables, { inTurn, lock, table }: RecordTools): TurnPart {
  const turns = table("price_turn", tables.priceTurns);
  const newest = (): number => Math.max(0, ...turns.sorted().map(({ changed }) => changed));
  return {
    priceTurns: (after) =>
      inTurn(async () => ({
        turns: turns
          .sorted()
          .filter(({ changed }) => changed > after)
          .sort((one, other) => one.changed - other.changed)
          .map(({ symbol, first, second }) => ({ symbol, first, ...(second !== undefined && { second }) })),
        place: Math.max(after, newest()),
      })),
    putPriceTurns: (put) =>
      inTurn(async () => {
        await lock("price turns");
        const changed = newest() + 1;
        for (const turn of put) turns.set(turn.symbol, { ...turn, changed });
      }),
  };
}

function positionChanges(
  tables: ForeignTables,
  { inTurn, lock, table }: RecordTools,
): Omit<ForeignRecords, keyof BustPart | keyof OwnerPart | keyof TurnPart> {
  const positions = table("foreign_position", tables.positions);
  const unnumbered = table("foreign_unnumbered", tables.unnumbered);
  const sorted = (isWanted: (kept: Kept) => boolean): readonly Kept[] =>
    positions
      .sorted()
      .filter(isWanted)
      .map(({ at: _at, ...kept }) => kept);
  return {
    lock: (stream) =>
      inTurn(async () => {
        await lock(`foreign position ${keyOf(stream)}`);
        const kept = positions.get(keyOf(stream));
        if (kept === undefined) return undefined;
        const { last, missing, refused, at } = kept;
        return { last, missing, ...(refused !== undefined && { refused }), at };
      }),
    put: ({ source, fundId, kind }, { last, missing, refused = [] }, at) =>
      inTurn(async () => {
        const stream = { source, fundId, kind };
        await lock(`foreign position ${keyOf(stream)}`);
        positions.set(keyOf(stream), { ...stream, last, missing, ...(refused.length > 0 && { refused }), at });
      }),
    noteUnnumbered: (source, at) =>
      inTurn(async () => {
        await lock(`foreign source ${source}`);
        if (unnumbered.has(source)) return false;
        unnumbered.set(source, at);
        return true;
      }),
    positions: (source, fundId) =>
      inTurn(async () => sorted((kept) => kept.source === source && kept.fundId === fundId && kept.last !== undefined)),
    valueSources: () =>
      inTurn(async () => {
        const numbered = sorted(({ kind, last }) => kind === "values" && last !== undefined);
        const named = numbered.map(({ source, fundId }) => ({ source, fundId }));
        return named.sort((one, other) =>
          `${one.fundId}\0${one.source}` < `${other.fundId}\0${other.source}` ? -1 : 1,
        );
      }),
    withGaps: () => inTurn(async () => sorted(({ missing }) => missing.length > 0)),
  };
}

function keyOf({ source, fundId, kind }: ForeignStream): string {
  return [source, fundId, kind].join("\0");
}
