// The shell of a panel about the past. What was once is not stale: a silent stream dims nothing here. A question without an answer is an error, above what is
// still shown of the moment at which the clock stands. Nothing of now is on it, and nothing acts from it.
import type { ReactNode } from "react";
import { type Instant, toUnixMs } from "../../../contracts/src/instant.ts";
import type { Asked } from "../data/list-place.ts";
import type { ListName } from "../data/lists.ts";
import type { ReadFacts } from "../model/panel-state.ts";
import { Explain, type Explained, Failed } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";

export interface PastRead {
  readonly name: ListName;
  readonly asked: Asked;
  readonly hasData: boolean;
  readonly answeredAt: Instant | undefined;
  readonly failure: ReadFacts["failure"];
  again(): void;
}

interface PastPanelProps {
  readonly name: string;
  readonly title: string;
  readonly read: PastRead;
  readonly isEmpty: boolean;
  readonly partial?: string | undefined;
  readonly empty: ReactNode;
  readonly explained: readonly Explained[];
  readonly tools?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

type PastState = "loading" | "ready" | "empty" | "partial" | "error" | "forbidden";

export function PastPanel(props: PastPanelProps) {
  const { name, title, read, isEmpty, partial, explained, tools, wide = false } = props;
  const { failure } = read;
  const state: PastState =
    failure !== undefined
      ? failure.status === 403
        ? "forbidden"
        : "error"
      : !read.hasData
        ? "loading"
        : isEmpty
          ? "empty"
          : partial === undefined
            ? "ready"
            : "partial";
  const headingId = `heading-${name}`;
  const source = {
    name: read.name,
    asked: read.asked,
    updatedAtMs: read.answeredAt === undefined ? 0 : toUnixMs(read.answeredAt),
  };
  return (
    <section
      className={wide ? "panel wide" : "panel"}
      data-testid={`panel-${name}`}
      data-state={state}
      aria-labelledby={headingId}
      aria-busy={state === "loading"}
    >
      <header>
        <h2 id={headingId}>{title}</h2>
        <span className="tools">{tools}</span>
        <Explain reads={[source]} explained={explained} title={title} />
      </header>
      {(state === "error" || state === "forbidden") && (
        <Failed state={state} reads={[{ failure, again: read.again }]} />
      )}
      {state === "partial" && (
        <p className="note warning">
          Partly known: <Theirs text={partial} />
        </p>
      )}
      <Body state={state} {...props} />
    </section>
  );
}

function Body({ state, read, isEmpty, empty, children }: PastPanelProps & { readonly state: PastState }) {
  if (state === "forbidden") return null;
  if (!read.hasData) {
    return state === "loading" ? (
      <div className="skeleton">
        <p>Loading…</p>
        <span />
        <span />
        <span />
      </div>
    ) : null;
  }
  return isEmpty ? <div className="none">{empty}</div> : <div className="body">{children}</div>;
}
