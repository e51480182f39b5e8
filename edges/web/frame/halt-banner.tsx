// What is halted, on every desk and before everything else; and a request to resume that waits for its second signature.

import { useRouterState } from "@tanstack/react-router";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { haltGroups, requestGroup } from "../../words/fields.ts";
import { byStrictness, scopeOf } from "../../words/halt-words.ts";
import { age, duration, leftMs } from "../../words/times.ts";
import { cosignAsk, resumeAllAsk } from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { msOf, utc, utcText } from "../model/moments.ts";
import { panelState, whyStale } from "../model/panel-state.ts";
import { Fields, Quoted, Theirs } from "../panels/theirs.tsx";
import { useLinkWord, useLiveSinceMs, useNow, useWeb } from "../web-context.tsx";

/** What is halted cannot be read: that no banner stands here proves nothing then. */
export function HaltsUnread() {
  const halts = useList("halts");
  const link = useLinkWord();
  const liveSinceMs = useLiveSinceMs();
  const now = useNow();
  const facts = { link, liveSinceMs, nowMs: msOf(now), isEmpty: false, isPartial: false };
  const state = panelState({ ...facts, reads: [halts] });
  if (state !== "stale" && state !== "error") return null;
  const read = halts.updatedAtMs === 0 ? "never" : utc(fromUnixMs(halts.updatedAtMs));
  return (
    <p className="halts-unread" role="status" data-testid="halts-unread">
      <strong>HALTS NOT KNOWN</strong> What is halted was last read {read === "never" ? read : `at ${read}`}
      {link === "live" ? (
        <Theirs text={` (${whyStale([halts]) ?? "it is read again"})`} />
      ) : (
        " (the server is not heard)"
      )}
      .
    </p>
  );
}

export function HaltBanner() {
  const { data: status } = useList("halts");
  const open = useDanger();
  const now = useNow();
  // Beside what was in force then it says of when it is.
  const ofNow = useRouterState({ select: ({ location }) => location.pathname }) === "/replay" ? "NOW " : "";
  if (status === undefined) return null;
  if (status.halts.length === 0) {
    if (status.known) return null;
    return (
      <div role="alert" className="halt-banner" data-testid="halt-banner">
        <p>
          <strong>{ofNow}HALT STATE UNKNOWN</strong> It counts as halted until it is known again.
        </p>
      </div>
    );
  }
  const [first, ...more] = byStrictness(status.halts);
  if (first === undefined) return null;
  return (
    <div role="alert" className="halt-banner" data-testid="halt-banner">
      <p>
        <strong>
          {ofNow}HALTED <Theirs text={scopeOf(first)} />
        </strong>{" "}
        since <time dateTime={first.since}>{utcText(first.since)}</time>{" "}
        {/* An alert is read out again whenever it changes: not once a second. */}
        <span aria-hidden="true">({age(first.since, now)})</span>, by <Quoted text={first.requested_by} />, reason:{" "}
        <Quoted text={first.reason} />
        {more.length > 0 && <span>, and {more.length} more</span>}
      </p>
      <button type="button" data-testid="resume-button" onClick={() => open(resumeAllAsk(status, now))}>
        Resume…
      </button>
    </div>
  );
}

export function CosignCard() {
  const { data: status } = useList("halts");
  const { identity } = useWeb();
  const open = useDanger();
  const now = useNow();
  if (status?.request_id === undefined) return null;
  const isOwn = status.requested_by === identity.actor;
  const left = status.expires_at === undefined ? undefined : leftMs(status.expires_at, now);
  return (
    <section className="cosign" data-testid="cosign-card" aria-label="A request to resume waits for a second signature">
      <h2>A request to resume everything waits for a second signature</h2>
      <p>Time left: {left === undefined ? "not known" : left <= 0 ? "none, it has expired" : duration(left)}</p>
      <div className="asked">
        <Fields groups={[requestGroup(status, now), ...haltGroups(byStrictness(status.halts), now)]} />
      </div>
      {isOwn && <p className="quiet">It is your own request: another operator must sign it.</p>}
      <button type="button" data-testid="cosign-sign" onClick={() => open(cosignAsk(status, now))}>
        Co-sign…
      </button>
    </section>
  );
}
