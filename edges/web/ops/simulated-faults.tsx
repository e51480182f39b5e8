// The faults that the paper broker and market are made to suffer: a drill that goes on must be seen, and can be ended here.

import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { faultsText } from "../../words/fault-text.ts";
import type { DangerAsk } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

export function SimulatedFaults() {
  const faults = useList("faults");
  const open = useDanger();
  const now = useNow();
  return (
    <Panel
      name="weather"
      title="Simulated faults of the paper market"
      reads={[faults]}
      empty={<p>There is no paper market here.</p>}
      tools={
        <>
          <button type="button" onClick={() => open(silenceAsk)}>
            Silence the broker…
          </button>
          <button type="button" onClick={() => open(calmAsk)}>
            End all…
          </button>
        </>
      }
      explained={[
        {
          figure: "Faults",
          formula:
            "What somebody set for a drill: lost or repeated reports, a silent broker, price gaps, halted symbols.",
        },
      ]}
    >
      {faults.data !== undefined && <pre>{faultsText(faults.data, now)}</pre>}
    </Panel>
  );
}

const silentS = 30;

const silenceAsk: DangerAsk = {
  title: `Silence the paper broker for ${silentS} s`,
  scope: "the paper broker",
  scopeId: "",
  paperOnly: true,
  facts: [
    `The paper broker answers nothing for ${silentS} s: orders stay unknown until it speaks again. Live brokers are not touched.`,
  ],
  reason: "required",
  code: "none",
  command: "ctl paper weather set --broker-silent-for 30s --reason TEXT",
  run: (typed, acting) => {
    const now = acting.clock.now();
    const until = format(plusMilliseconds(now, silentS * 1_000));
    return audited({
      action: "paper.weather",
      run: async ({ reason }, client) => {
        const faults = await client.setPaperWeather({ brokerSilentUntil: until, reason } as never);
        return ["SET", ...faultsText(faults, now).split("\n")];
      },
    })(typed, acting);
  },
};

const calmAsk: DangerAsk = {
  title: "End all simulated faults",
  scope: "the paper broker and market",
  scopeId: "",
  paperOnly: true,
  facts: ["The paper broker and market behave again."],
  reason: "required",
  code: "none",
  command: "ctl paper weather set --calm --reason TEXT",
  run: audited({
    action: "paper.weather",
    run: async ({ reason }, client) => {
      await client.setPaperWeather({ reason } as never);
      return ["ENDED: no fault is simulated."];
    },
  }),
};
