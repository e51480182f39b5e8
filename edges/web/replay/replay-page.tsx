// /replay: what did we know and do then? One clock, and everything in the panels is of its moment. What is now stands in the frame alone.
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { NoFund } from "../panels/panel.tsx";
import { ChartPanel } from "./chart-panel.tsx";
import { ClockBar } from "./clock-bar.tsx";
import { MomentPanel } from "./moment-panel.tsx";
import { PastPanel } from "./past-panel.tsx";
import { TimelinePanel } from "./timeline-panel.tsx";
import { useReplay } from "./use-replay.ts";
import { VerifyPanel } from "./verify-panel.tsx";

export function ReplayPage() {
  const funds = useList("funds");
  const { fund = funds.data?.[0]?.fund_id } = useDeskSearch();
  if (fund !== undefined) return <FundReplay key={fund} fund={fund} />;
  return (
    <div className="panels replay">
      {titles.map(([name, title]) => (
        <PastPanel
          key={name}
          name={name}
          title={title}
          read={{
            name: "funds",
            asked: {},
            hasData: funds.data !== undefined,
            answeredAt: undefined,
            failure: funds.data === undefined ? funds.failure : undefined,
            again: funds.again,
          }}
          isEmpty
          empty={<NoFund />}
          explained={[]}
        >
          {null}
        </PastPanel>
      ))}
    </div>
  );
}

const titles = [
  ["chart", "Price"],
  ["timeline", "What happened"],
  ["moment", "How it stood"],
  ["verify", "Are the decisions what they were?"],
] as const;

function FundReplay({ fund }: { readonly fund: string }) {
  const view = useReplay(fund);
  if (view === undefined) return null;
  return (
    <>
      <ClockBar view={view} />
      <div className="panels replay">
        <ChartPanel view={view} />
        <TimelinePanel view={view} />
        <MomentPanel view={view} />
        <VerifyPanel view={view} />
      </div>
    </>
  );
}
