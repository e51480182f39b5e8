// The one dialog of everything dangerous: PAPER or LIVE, what it is done to, what the server says it hits, the word, the reason and the code. Its target is
// fixed while data moves below, a double click sends once, and the outcome is what the server proved.

import { Dialog } from "@base-ui/react/dialog";
import { createContext, type ReactNode, type SubmitEvent, useContext, useEffect, useRef, useState } from "react";
import type { Outcome } from "../../words/act.ts";
import { failureOf } from "../model/panel-state.ts";
import { Unbroken } from "../panels/figures.tsx";
import { Fields, Theirs } from "../panels/theirs.tsx";
import { useWeb } from "../web-context.tsx";
import type { DangerAsk, Typed } from "./ask.ts";
import { type Effects, readEffects } from "./effects.ts";

const OpenDanger = createContext<(ask: DangerAsk) => void>(() => undefined);

export function useDanger(): (ask: DangerAsk) => void {
  return useContext(OpenDanger);
}

export function DangerProvider({ children }: { readonly children: ReactNode }) {
  const [ask, setAsk] = useState<DangerAsk>();
  const [isOpen, setOpen] = useState(false);
  const open = (next: DangerAsk): void => {
    setAsk(next);
    setOpen(true);
  };
  return (
    <OpenDanger value={open}>
      {children}
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Backdrop className="backdrop" />
          <Dialog.Popup className="danger" data-testid="danger-dialog">
            {ask !== undefined && <DangerBody ask={ask} close={() => setOpen(false)} />}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </OpenDanger>
  );
}

type Phase = "asking" | "sending" | "outcome";

function DangerBody({ ask, close }: { readonly ask: DangerAsk; readonly close: () => void }) {
  const { client, clock, timers } = useWeb();
  const effects = useEffects(ask);
  const [phase, setPhase] = useState<Phase>("asking");
  const [outcome, setOutcome] = useState<Outcome>();
  const [typed, setTyped] = useState<Typed>({ reason: "", word: "", code: "" });
  // State comes a moment later than a second click.
  const isSent = useRef(false);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const left = leaving.current;
    return () => left.abort();
  }, []);
  const send = async (): Promise<void> => {
    if (isSent.current) return;
    isSent.current = true;
    setPhase("sending");
    const report = (next: Outcome): void => {
      setOutcome(next);
      setPhase("outcome");
    };
    try {
      await ask.run(trimmed(typed), { client, clock, timers, signal: leaving.current.signal, report });
    } catch (thrown) {
      report(failedOutcome(thrown));
    }
  };
  const again = (): void => {
    isSent.current = false;
    setTyped({ ...typed, code: "" });
    setOutcome(undefined);
    setPhase("asking");
  };
  return (
    <>
      <DangerHead ask={ask} effects={effects} />
      {phase === "outcome" && outcome !== undefined ? (
        <DangerOutcome outcome={outcome} again={again} close={close} />
      ) : (
        <DangerForm
          ask={ask}
          typed={typed}
          onType={setTyped}
          isSending={phase === "sending"}
          send={send}
          close={close}
        />
      )}
    </>
  );
}

function trimmed({ reason, word, code }: Typed): Typed {
  return { reason: reason.trim(), word: word.trim(), code: code.replaceAll(/\s/g, "") };
}

/** Whether a request without an answer took effect is not known, and nobody may believe either. */
function failedOutcome(thrown: unknown): Outcome {
  const failure = failureOf(thrown);
  const isSilent = failure?.status === undefined || failure.status >= 500;
  const request = failure?.requestId === undefined ? [] : [`Request ${failure.requestId}`];
  return {
    lines: [
      `${isSilent ? "NO ANSWER" : "REFUSED"} ${failure?.code ?? ""}: ${failure?.detail ?? ""}`,
      isSilent
        ? "It is not known whether it took effect: see the lists, and ask again if it did not."
        : "Nothing was done.",
      ...request,
    ],
    tone: "bad",
    done: true,
  };
}

function useEffects(ask: DangerAsk): Effects | undefined {
  const { client } = useWeb();
  const [effects, setEffects] = useState<Effects>();
  const { scopeId, paperOnly = false } = ask;
  useEffect(() => {
    let isLeft = false;
    const scope = { scopeId: scopeId ?? "", paperOnly };
    void readEffects(client, scope).then((found) => {
      if (!isLeft) setEffects(found);
    });
    return () => {
      isLeft = true;
    };
  }, [client, scopeId, paperOnly]);
  return effects;
}

function DangerHead({ ask, effects }: { readonly ask: DangerAsk; readonly effects: Effects | undefined }) {
  const mode = ask.mode ?? effects?.mode ?? "mode not known";
  const isLive = mode.includes("LIVE");
  return (
    <>
      <p className={isLive ? "mode live" : "mode"}>
        {effects === undefined && ask.mode === undefined ? "reading…" : mode}
      </p>
      <Dialog.Title>{ask.title}</Dialog.Title>
      <p data-testid="danger-scope" className="danger-scope">
        <Theirs text={ask.scope} />
      </p>
      {ask.about !== undefined && (
        <div data-testid="danger-about">
          <Fields groups={ask.about} />
        </div>
      )}
      <Dialog.Description render={<div />} data-testid="danger-effects" className="danger-effects">
        <ul>
          {ask.facts.map((line) => (
            <li key={line}>
              <Unbroken text={line} />
            </li>
          ))}
        </ul>
        {ask.scopeId !== undefined && (
          <>
            <p>It hits:</p>
            <ul className="hits">
              {effects === undefined ? (
                <li>reading…</li>
              ) : (
                effects.lines.map((line) => (
                  <li key={line}>
                    <Unbroken text={line} />
                  </li>
                ))
              )}
              {effects?.lines.length === 0 && <li>No fund.</li>}
            </ul>
          </>
        )}
      </Dialog.Description>
    </>
  );
}

interface FormProps {
  readonly ask: DangerAsk;
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
  readonly isSending: boolean;
  readonly send: () => Promise<void>;
  readonly close: () => void;
}

function DangerForm({ ask, typed, onType, isSending, send, close }: FormProps) {
  const { word, reason, code } = ask;
  const isWhole =
    (word === undefined || typed.word.trim() !== "") &&
    (reason !== "required" || typed.reason.trim() !== "") &&
    (code !== "required" || /^\d{6}$/.test(typed.code.replaceAll(/\s/g, "")));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isWhole) void send();
  };
  return (
    <form onSubmit={submit}>
      {word !== undefined && (
        <label>
          Type {word}
          <input
            data-testid="danger-word"
            value={typed.word}
            onChange={(event) => onType({ ...typed, word: event.target.value })}
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
          />
        </label>
      )}
      {reason !== "none" && (
        <label>
          {reason === "required" ? "Why" : "Why (may stay empty: manual)"}
          <input
            data-testid="danger-reason"
            value={typed.reason}
            onChange={(event) => onType({ ...typed, reason: event.target.value })}
            maxLength={500}
          />
        </label>
      )}
      {code !== "none" && (
        <label>
          {code === "required" ? "Code of your authenticator" : "Code of your authenticator, if it is asked for"}
          <input
            data-testid="danger-code"
            value={typed.code}
            onChange={(event) => onType({ ...typed, code: event.target.value })}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={7}
          />
        </label>
      )}
      <p className="quiet">
        The same:{" "}
        <code>
          <Theirs text={ask.command} />
        </code>
      </p>
      <div className="buttons">
        <button type="button" onClick={close}>
          Leave it
        </button>
        <button type="submit" className="act" data-testid="danger-confirm" disabled={!isWhole || isSending}>
          {isSending ? "Sent, waiting for the server…" : ask.title}
        </button>
      </div>
    </form>
  );
}

function DangerOutcome({
  outcome,
  again,
  close,
}: {
  readonly outcome: Outcome;
  readonly again: () => void;
  readonly close: () => void;
}) {
  return (
    <>
      <div
        data-testid="danger-outcome"
        data-tone={outcome.tone}
        data-done={outcome.done}
        className={`outcome ${outcome.tone}`}
        role="status"
      >
        {outcome.lines.map((line, index) => (
          // Lines of one outcome may repeat; their place is what they are.
          // biome-ignore lint/suspicious/noArrayIndexKey: the place is the identity
          <p key={index}>
            <Unbroken text={line} />
          </p>
        ))}
        {!outcome.done && <p>Still asking the server…</p>}
      </div>
      <div className="buttons">
        {outcome.tone === "bad" && outcome.done && (
          <button type="button" onClick={again}>
            Back to the question
          </button>
        )}
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </>
  );
}
