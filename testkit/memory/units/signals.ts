// The alerts of a charting platform in a transaction of the memory store.
import { Fault } from "../../../contracts/src/fault.ts";
import type { SignalRecords, StoredSignal } from "../../../ports/signal-records.ts";
import type { RecordTools } from "../layered-map.ts";

export interface SignalTables {
  readonly signals: Map<string, StoredSignal>;
  /** How many requests each fund received. */
  readonly receipts: Map<string, number>;
}

export function signalTables(): SignalTables {
  return { signals: new Map(), receipts: new Map() };
}

export function signalChanges(tables: SignalTables, { inTurn, lock, table }: RecordTools): SignalRecords {
  const signals = table("oms_signal", tables.signals);
  const receipts = table("oms_signal_fund", tables.receipts);
  const waiting = (fits: (signal: StoredSignal) => boolean): StoredSignal[] =>
    signals.filter((one) => one.status === "ACCEPTED" && fits(one)).sort((one, other) => one.receipt - other.receipt);
  return {
    takeReceipt: (fundId) =>
      inTurn(async () => {
        await lock(`signals of ${fundId}`);
        const receipt = (receipts.get(fundId) ?? 0) + 1;
        receipts.set(fundId, receipt);
        return receipt;
      }),
    keyHolder: (fundId, idempotencyKey, at) =>
      inTurn(async () => {
        const holds = ({ accepted, ...one }: StoredSignal): boolean =>
          one.fundId === fundId &&
          one.idempotencyKey === idempotencyKey &&
          accepted !== undefined &&
          accepted.keyUntil >= at;
        return signals.filter(holds).sort((one, other) => other.receipt - one.receipt)[0];
      }),
    insertSignal: (signal) =>
      inTurn(async () => {
        await lock(`signal ${signal.signalId}`);
        if (signals.has(signal.signalId)) {
          throw new Fault("STORE_CONFLICT", `the signal ${signal.signalId} exists already`, { retry: "now" });
        }
        signals.set(signal.signalId, signal);
      }),
    lockSignal: (signalId) =>
      inTurn(async () => {
        await lock(`signal ${signalId}`);
        return signals.get(signalId);
      }),
    updateSignal: (signal) =>
      inTurn(async () => {
        await lock(`signal ${signal.signalId}`);
        signals.set(signal.signalId, signal);
      }),
    signal: (signalId) => inTurn(async () => signals.get(signalId)),
    waitingSignals: (fundId) => inTurn(async () => waiting((one) => one.fundId === fundId)),
    waitingLanes: () =>
      inTurn(async () => {
        const lanes = new Map(
          waiting(() => true).map(({ fundId = "", symbol = "" }) => [`${fundId}\0${symbol}`, { fundId, symbol }]),
        );
        return [...lanes].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, lane]) => lane);
      }),
    nextSignal: (lane) =>
      inTurn(async () => waiting((one) => one.fundId === lane.fundId && one.symbol === lane.symbol)[0]),
    trimSignals: (before, countMax) =>
      inTurn(async () => {
        const isOld = ({ status, receivedAt, accepted }: StoredSignal): boolean =>
          status !== "ACCEPTED" && receivedAt < before && (accepted === undefined || accepted.keyUntil < before);
        const old = signals.filter(isOld).sort((one, other) => one.receivedAt - other.receivedAt);
        for (const { signalId } of old.slice(0, countMax)) signals.delete(signalId);
        return Math.min(old.length, countMax);
      }),
    newestSignal: (strategyId) =>
      inTurn(
        async () =>
          signals
            .filter((one) => one.strategyId === strategyId && one.fundId !== undefined)
            .sort((one, other) => other.receivedAt - one.receivedAt || (one.signalId < other.signalId ? 1 : -1))[0],
      ),
  };
}
