// Steps of orders for a regulator, and since when funds are enabled, in a transaction of the memory store.
import type { FilingStepRecords, FilingSwitch, KeptStep } from "../../../ports/filing-steps.ts";
import type { RecordTools } from "../layered-map.ts";

export interface FilingStepTables {
  readonly steps: Map<string, KeptStep>;
  readonly switches: Map<string, FilingSwitch>;
}

export function filingStepTables(): FilingStepTables {
  return { steps: new Map(), switches: new Map() };
}

const compareText = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
const inTheirOrder = ({ step: one }: KeptStep, { step: other }: KeptStep): number =>
  one.at - other.at || compareText(one.id, other.id);

export function filingStepChanges(tables: FilingStepTables, { inTurn, table }: RecordTools): FilingStepRecords {
  const steps = table("filing_step", tables.steps);
  const switches = table("filing_switch", tables.switches);
  return {
    keep: (kept) =>
      inTurn(async () => {
        const key = JSON.stringify([kept.fundId, kept.orderId, kept.step.id]);
        if (!steps.has(key)) steps.set(key, kept);
      }),
    ofOrder: (fundId, orderId, countMax) =>
      inTurn(async () => {
        const own = steps.filter((kept) => kept.fundId === fundId && kept.orderId === orderId);
        return own.sort(inTheirOrder).slice(0, countMax);
      }),
    partsOf: (fundId, orderId, countMax) =>
      inTurn(async () => {
        const parts = steps.filter((kept) => kept.fundId === fundId && kept.parentOrderId === orderId);
        return [...new Set(parts.map((kept) => kept.orderId))].sort(compareText).slice(0, countMax);
      }),
    switchTo: (to) => inTurn(async () => switches.set(JSON.stringify([to.regime, to.fundId, to.at]), to)),
    switches: () =>
      inTurn(async () => {
        const newest = new Map<string, FilingSwitch>();
        for (const one of switches.filter(() => true).sort((left, right) => left.at - right.at)) {
          newest.set(JSON.stringify([one.regime, one.fundId]), one);
        }
        return [...newest].sort(([one], [other]) => compareText(one, other)).map(([, one]) => one);
      }),
  };
}
