// How much of every limit is used, the most used first: a bar with ticks where warnings are given, its share in figures, and a word where it is grave.
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { Amount, gradeOfBand, Percent, StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";

type Use = Lists["use"][number];

const bands = [50, 75, 85, 90, 95] as const;

export const limitUseColumns: readonly Column<Use>[] = [
  { id: "fund", head: "Fund", by: (one) => one.fund_id },
  { id: "limit", head: "Limit", by: limitName },
  {
    id: "share",
    head: "Share",
    unit: "%",
    number: true,
    by: (one) => one.share,
    cell: (one) => <Percent fraction={one.share} />,
  },
  {
    id: "bar",
    head: "Used of the limit",
    unit: bands.join(" "),
    by: (one) => one.share,
    cell: (one) => <Bar use={one} />,
  },
  { id: "used", head: "Used", number: true, by: (one) => one.used, cell: (one) => <Amount text={one.used} /> },
  {
    id: "allowed",
    head: "Allowed",
    number: true,
    by: (one) => one.allowed,
    cell: (one) => <Amount text={one.allowed} />,
  },
  {
    id: "band",
    head: "Band",
    by: (one) => one.band,
    cell: (one) =>
      one.share === undefined ? (
        <StateWord word={`not counted: ${one.reason ?? "no reason given"}`} grade="warning" />
      ) : (
        <StateWord word={one.band === 0 ? "below 50" : `${one.band}`} grade={gradeOfBand(one.band)} />
      ),
  },
];

/** Only while something is open: what limits are judged by is the worse end. */
const openColumns: readonly Column<Use>[] = [
  {
    id: "least",
    head: "At least used",
    number: true,
    by: (one) => one.used_least,
    cell: (one) => (one.used_least === undefined ? null : <Amount text={one.used_least} />),
  },
  {
    id: "most",
    head: "At most allowed",
    number: true,
    by: (one) => one.allowed_most,
    cell: (one) => (one.allowed_most === undefined ? null : <Amount text={one.allowed_most} />),
  },
  { id: "open", head: "Open", by: (one) => one.cause },
];

/** The scope is said once. Those of the envelope are named as its fields; the others are losses, whose names alone do not say so. */
function limitName({ limit, scope }: Pick<Use, "limit" | "scope">): string {
  const isField = limit.startsWith("max_") || limit.includes("_pct");
  const name = isField ? limit : `${limit} loss`;
  return scope === "" || limit.endsWith(`.${scope}`) ? name : `${name} ${scope}`;
}

export function LimitUse() {
  const { fund } = useDeskSearch();
  const use = useList("use", { fund });
  const rows = use.data ?? [];
  const isOpen = rows.some(({ cause }) => cause !== undefined);
  const uncounted = rows.filter(({ share }) => share === undefined).length;
  return (
    <Panel
      name="limit-use"
      title="Limit use"
      wide
      reads={[use]}
      isEmpty={rows.length === 0}
      partial={uncounted === 0 ? undefined : `${uncounted} of ${rows.length} limits cannot be counted now.`}
      empty={
        <p>
          No fund has limits, so every order that adds risk is denied. A fund's limits are set in its envelope below.
        </p>
      }
      explained={[
        {
          figure: "Share",
          formula: "Used divided by allowed. Both count the worst case: positions and every open order.",
        },
        {
          figure: "Band",
          formula: "The highest of 50, 75, 85, 90 and 95 % that the share has reached; the bar has a tick at each.",
        },
        { figure: "Used", formula: "What counts against the limit now, in its own unit." },
        { figure: "Allowed", formula: "The envelope's fraction of the fund's value, or its amount." },
        {
          figure: "At least used, at most allowed",
          formula:
            "The other ends, while a fill, a price or a value is not vouched for: used and allowed are the worse ones.",
        },
      ]}
    >
      <DataTable
        panel="limit-use"
        caption="How much of each limit is used"
        columns={isOpen ? [...limitUseColumns, ...openColumns] : limitUseColumns}
        rows={rows}
        id={(one) => `${one.fund_id}/${one.limit}/${one.scope}`}
        rowClass={(one) => gradeOfBand(one.band)}
      />
    </Panel>
  );
}

const width = 200;
const height = 12;

function Bar({ use }: { readonly use: Use }) {
  const { share, band } = use;
  if (share === undefined) return <span className="quiet">not counted</span>;
  const filled = Math.min(1, Math.max(0, share)) * width;
  return (
    <svg
      className={`bar ${gradeOfBand(band) ?? "calm"}`}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
    >
      <rect className="ground" width={width} height={height} />
      <rect className="filled" width={filled} height={height} />
      {bands.map((at) => (
        <line key={at} className="tick" x1={(at / 100) * width} x2={(at / 100) * width} y1={0} y2={height} />
      ))}
    </svg>
  );
}
