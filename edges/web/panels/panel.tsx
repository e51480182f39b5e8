// The shell of every panel: its name, its one state, its age, how its figures came about and, when something is wrong, what and what to do next.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { duration } from "../../words/times.ts";
import type { Asked } from "../data/list-place.ts";
import { type ListName, lists } from "../data/lists.ts";
import { type ListRead, useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { isHalted } from "../model/halted.ts";
import { msOf, utc } from "../model/moments.ts";
import { type PanelState, panelState, whyStale } from "../model/panel-state.ts";
import { carried } from "../model/search.ts";
import { useFrozen, useLinkWord, useLiveSinceMs, useNow, useWeb } from "../web-context.tsx";
import { Theirs } from "./theirs.tsx";

/** How a figure came about, in the words of the reference. */
export interface Explained {
  readonly figure: string;
  readonly formula: string;
}

interface PanelProps {
  readonly name: string;
  readonly title: string;
  readonly reads: readonly ListRead<unknown>[];
  readonly isEmpty?: boolean;
  /** Why something is missing, when it is. */
  readonly partial?: string | undefined;
  /** Why nothing is here, and what to do next. */
  readonly empty: ReactNode;
  readonly explained: readonly Explained[];
  readonly tools?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

export function Panel(props: PanelProps) {
  const { name, title, reads, isEmpty = false, partial, tools, wide = false, children } = props;
  const { fund } = useDeskSearch();
  const now = useNow();
  const link = useLinkWord();
  const halts = useList("halts");
  const liveSinceMs = useLiveSinceMs();
  const isFrozen = useFrozen();
  const state = panelState({ reads, link, liveSinceMs, nowMs: msOf(now), isEmpty, isPartial: partial !== undefined });
  const halted = isHalted(halts.data, fund);
  const headingId = `heading-${name}`;
  return (
    <section
      className={wide ? "panel wide" : "panel"}
      data-testid={`panel-${name}`}
      data-state={state}
      {...(halted ? { "data-halted": "true" } : {})}
      aria-labelledby={headingId}
      aria-busy={state === "loading"}
    >
      <header>
        <h2 id={headingId}>{title}</h2>
        {halted && <span className="chip halted">HALTED</span>}
        <PanelAge state={state} reads={reads} />
        <span className="tools">{tools}</span>
        <Explain reads={reads} explained={props.explained} title={title} />
      </header>
      {state === "stale" && link === "live" && !isFrozen && <WhyStale reads={reads} />}
      {partial !== undefined && state === "partial" && (
        <p className="note warning">
          Partly known: <Theirs text={partial} />
        </p>
      )}
      <PanelBody state={state} reads={reads} empty={props.empty} isEmpty={isEmpty}>
        {children}
      </PanelBody>
    </section>
  );
}

/** Where a panel is about one fund and there is none. */
export function NoFund() {
  return <p>There is no fund yet. Funds are configured; see the configuration's section funds.</p>;
}

function ageOf(reads: readonly ListRead<unknown>[], nowMs: number): number {
  const oldest = Math.min(...reads.map(({ updatedAtMs }) => updatedAtMs));
  return Math.max(0, nowMs - oldest);
}

/** Only what is old says so; what is fresh needs no word. */
function PanelAge({ state, reads }: { readonly state: PanelState; readonly reads: readonly ListRead<unknown>[] }) {
  const now = useNow();
  const isFrozen = useFrozen();
  if (state !== "stale") return null;
  const age = duration(ageOf(reads, msOf(now)));
  return (
    <span className="chip stale">
      {isFrozen ? "frozen" : "stale"}, {age} old
    </span>
  );
}

/** Where the link is cut the frame says so once; else the panel says whose answer is missing. */
function WhyStale({ reads }: { readonly reads: readonly ListRead<unknown>[] }) {
  const why = whyStale(reads);
  return why === undefined ? null : (
    <p className="note warning">
      Not of now: <Theirs text={why} />
    </p>
  );
}

function PanelBody({
  state,
  reads,
  empty,
  isEmpty,
  children,
}: Pick<PanelProps, "reads" | "empty" | "children"> & { readonly state: PanelState; readonly isEmpty: boolean }) {
  if (state === "loading") {
    return (
      <div className="skeleton">
        <p>Loading…</p>
        <span />
        <span />
        <span />
      </div>
    );
  }
  if (state === "forbidden" || state === "error") return <Failed state={state} reads={reads} />;
  // An old answer that was empty is no proof that nothing is there now.
  if (isEmpty) {
    return (
      <div className="none">
        {state === "stale" && <p className="note">When it was last read:</p>}
        {empty}
      </div>
    );
  }
  return <div className="body">{children}</div>;
}

type Answered = Pick<ListRead<unknown>, "name" | "asked" | "updatedAtMs">;

export function Failed({
  state,
  reads,
}: {
  readonly state: PanelState;
  readonly reads: readonly Pick<ListRead<unknown>, "failure" | "again">[];
}) {
  const { identity } = useWeb();
  const failed = reads.find(({ failure }) => failure !== undefined);
  const failure = failed?.failure;
  if (failed === undefined || failure === undefined) return null;
  return (
    <div className="failed" role="status">
      <p>
        <strong>{state === "forbidden" ? "Not for your role" : "Not to be had"}</strong> <code>{failure.code}</code>
      </p>
      <p>
        <Theirs text={failure.detail} />
      </p>
      {state === "forbidden" && <p>You have: {identity.roles.join(", ")}.</p>}
      {failure.requestId !== undefined && (
        <p className="quiet">
          Request <code>{failure.requestId}</code>
        </p>
      )}
      {state === "error" && (
        <button type="button" onClick={failed.again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Explain({
  reads,
  explained,
  title,
}: {
  readonly reads: readonly Answered[];
  readonly explained: readonly Explained[];
  readonly title: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="quiet-button"
        data-testid="explain"
        aria-expanded={isOpen}
        aria-label={`Explain the figures of ${title}`}
        onClick={() => setOpen(!isOpen)}
      >
        explain
      </button>
      {isOpen && <Explanation reads={reads} explained={explained} />}
    </>
  );
}

function Explanation({
  reads,
  explained,
}: {
  readonly reads: readonly Answered[];
  readonly explained: readonly Explained[];
}) {
  return (
    <dl className="explanation">
      {explained.map(({ figure, formula }) => (
        <div key={figure}>
          <dt>{figure}</dt>
          <dd>{formula}</dd>
        </div>
      ))}
      {reads.map(({ name, asked, updatedAtMs }) => (
        <div key={`${name} ${JSON.stringify(asked)}`}>
          <dt>Source</dt>
          <dd>
            <Source name={name} asked={asked} updatedAtMs={updatedAtMs} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Source({
  name,
  asked,
  updatedAtMs,
}: {
  readonly name: ListName;
  readonly asked: Asked;
  readonly updatedAtMs: number;
}) {
  const { source: route, command, topics, actions, everyMs } = lists[name];
  const now = useNow();
  const search = useDeskSearch();
  const age = duration(Math.max(0, msOf(now) - updatedAtMs));
  const read = updatedAtMs === 0 ? "not read yet" : `read at ${utc(fromUnixMs(updatedAtMs))}, ${age} ago`;
  return (
    <>
      <a href={`/docs#${route}`}>{route}</a>, {read}; again every{" "}
      {everyMs === 0 ? "time that the clock moves" : duration(everyMs)}
      {topics.length > 0 && <>, and at once after the events {topics.map((topic) => `${topic}*`).join(", ")}</>}. The
      same:{" "}
      <code>
        <Theirs text={command(asked)} />
      </code>
      {actions.length > 0 && (
        <>
          . Its events in the audit log:{" "}
          {actions.map((action, index) => (
            <span key={action}>
              {index > 0 && ", "}
              <Link to="/ops" search={{ ...carried(search), q: action }} hash="heading-entries">
                {action.replace(/\.$/, "")}
              </Link>
            </span>
          ))}
        </>
      )}
    </>
  );
}
