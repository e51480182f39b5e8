// The faults that the paper broker and market are made to suffer: a drill that goes on must be seen, and can be ended here.
import { faultsText } from "../../ctl/text/fault-text.ts";
import { type DangerAsk, reporting } from "../danger/ask.ts";
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
  run: async ({ reason }, { client, clock, report }) => {
    const { format, plusMilliseconds } = await import("../../../contracts/src/instant.ts");
    const until = format(plusMilliseconds(clock.now(), silentS * 1_000));
    const faults = await client.setPaperWeather({ brokerSilentUntil: until, reason } as never);
    report({ lines: ["SET", ...faultsText(faults, clock.now()).split("\n")], tone: "good", done: true });
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
  run: reporting(async ({ reason }, client) => {
    await client.setPaperWeather({ reason } as never);
    return ["ENDED: no fault is simulated."];
  }),
};
