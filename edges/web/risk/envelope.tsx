// The editor of a fund's limits: what is typed is compared by the server first, so that somebody sees what tightens and what loosens before it is asked for.

import { type SubmitEvent, useState } from "react";
import type { AnswerOf, Client } from "../../client/src/types.ts";
import { type EnvelopeField, envelopeFields } from "../../words/envelope-fields.ts";
import { asArguments, type Envelope as Limits, type Proposed } from "../../words/envelope-proposal.ts";
import { previewNotes, previewRows } from "../../words/preview-words.ts";
import { shell } from "../../words/shell.ts";
import type { DangerAsk, Typed } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { useDeskSearch } from "../frame/use-search.ts";
import { utcText } from "../model/moments.ts";
import { failureOf } from "../model/panel-state.ts";
import { StateWord } from "../panels/figures.tsx";
import { NoFund, Panel } from "../panels/panel.tsx";
import { Theirs } from "../panels/theirs.tsx";
import { useWeb } from "../web-context.tsx";
import { limitText, proposalOf, type TypedLimits } from "./envelope-edit.ts";

type Diff = AnswerOf<"diffEnvelopes">;

const fields: readonly EnvelopeField[] = envelopeFields;

export function Envelope() {
  const search = useDeskSearch();
  const funds = useList("funds");
  const fund = search.fund ?? funds.data?.[0]?.fund_id;
  const envelope = useList("envelope", { fund }, fund !== undefined);
  return (
    <Panel
      name="envelope"
      title={fund === undefined ? "Envelope" : `Envelope of ${fund}`}
      wide
      reads={fund === undefined ? [funds] : [envelope]}
      isEmpty={fund === undefined}
      empty={<NoFund />}
      explained={fields.map(({ name, sentence, ...rest }) => ({
        figure: name,
        formula: `${sentence}${"absent" in rest && rest.absent !== undefined ? ` Absent: ${rest.absent}.` : ""}`,
      }))}
    >
      {envelope.data !== undefined && (
        <Editor key={`${envelope.data.fund_id} ${envelope.data.version}`} limits={envelope.data} />
      )}
    </Panel>
  );
}

function Editor({ limits }: { readonly limits: Limits }) {
  const { client } = useWeb();
  const open = useDanger();
  const [typed, setTyped] = useState<TypedLimits>({});
  const [diff, setDiff] = useState<{ readonly diff: Diff; readonly proposed: Proposed & { version: number } }>();
  const [complaint, setComplaint] = useState("");
  const compare = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setDiff(undefined);
    setComplaint("");
    try {
      const proposed = proposalOf(fields, typed, limits);
      setDiff({ proposed, diff: await client.diffEnvelopes({ fundId: limits.fund_id, proposed }) });
    } catch (thrown) {
      setComplaint(failureOf(thrown)?.detail ?? "");
    }
  };
  return (
    <form className="envelope" onSubmit={(event) => void compare(event)}>
      <p className="quiet">
        Version {limits.version}, set by <Theirs text={limits.updated_by ?? "nobody known"} />{" "}
        {utcText(limits.updated_at)}. Every _pct is a fraction: 0.07 is 7 %. An empty field takes a limit away where
        that is allowed.
      </p>
      <div className="limits">
        {fields.map((field) => (
          <Limit
            key={field.name}
            field={field}
            text={typed[field.name] ?? limitText(field, limits)}
            isTouched={typed[field.name] !== undefined && typed[field.name] !== limitText(field, limits)}
            onType={(text) => {
              setTyped({ ...typed, [field.name]: text });
              // What was compared is no longer what is typed.
              setDiff(undefined);
            }}
          />
        ))}
      </div>
      <div className="buttons">
        <button type="submit">Compare</button>
        {diff !== undefined && diff.diff.changes.length > 0 && (
          <button
            type="button"
            className="act"
            onClick={() => open(envelopeAsk(limits.fund_id, diff.proposed, diff.diff))}
          >
            Set version {diff.proposed.version}…
          </button>
        )}
      </div>
      {complaint !== "" && (
        <p className="note critical" role="alert">
          <Theirs text={complaint} />
        </p>
      )}
      {diff !== undefined && <Changes diff={diff.diff} />}
      {diff !== undefined && diff.diff.changes.length > 0 && <WouldBe diff={diff.diff} />}
    </form>
  );
}

/** What one line of a long field holds, for browsers that do not size a field by its text. */
const longLineLength = 60;

function Limit({
  field,
  text,
  isTouched,
  onType,
}: {
  readonly field: EnvelopeField;
  readonly text: string;
  readonly isTouched: boolean;
  readonly onType: (text: string) => void;
}) {
  const shown = {
    value: text,
    title: field.sentence,
    className: isTouched ? "touched" : undefined,
  };
  const isLong = field.kind === "fractions" || field.kind === "words";
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the fields is always inside.
    <label className={isLong ? "long" : undefined}>
      {field.name}
      {field.kind === "switch" ? (
        <select {...shown} onChange={(event) => onType(event.target.value)}>
          {field.absent !== undefined && <option value="">{`${field.absent} (not set)`}</option>}
          <option>true</option>
          <option>false</option>
        </select>
      ) : isLong ? (
        <textarea
          {...shown}
          aria-label={field.name}
          rows={Math.max(1, Math.ceil(text.length / longLineLength))}
          placeholder={field.absent ?? ""}
          onChange={(event) => onType(event.target.value)}
        />
      ) : (
        <input {...shown} placeholder={field.absent ?? ""} onChange={(event) => onType(event.target.value)} />
      )}
    </label>
  );
}

function Changes({ diff }: { readonly diff: Diff }) {
  if (diff.changes.length === 0) return <p className="note">Nothing would change.</p>;
  return (
    <table className="changes" data-testid="envelope-diff">
      <caption>
        {diff.loosens
          ? "This loosens: it takes a reason and your code, and is refused in a halt."
          : "This only tightens."}
      </caption>
      <thead>
        <tr>
          <th scope="col">Limit</th>
          <th scope="col" className="number">
            Before
          </th>
          <th scope="col" className="number">
            After
          </th>
          <th scope="col">Effect</th>
        </tr>
      </thead>
      <tbody>
        {diff.changes.map(({ field, before, after, effect }) => (
          <tr key={field}>
            <td>
              <Theirs text={field} />
            </td>
            <td className="number">
              <Theirs text={before} />
            </td>
            <td className="number">
              <Theirs text={after} />
            </td>
            <td>
              <StateWord word={effect} grade={effect === "LOOSENS" ? "warning" : "info"} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** As if no halt, block or missing price stood. */
function WouldBe({ diff: { preview, preview_missing } }: { readonly diff: Diff }) {
  const notes = previewNotes(preview, preview_missing);
  if (notes.length === 0) return undefined;
  const rows = preview === undefined ? [] : previewRows(preview);
  return (
    <>
      <p className="quiet">
        As if no halt, block or missing price stood. <Theirs text={notes.join(" ")} />
      </p>
      {rows.length > 0 && (
        <table className="changes" data-testid="envelope-preview">
          <thead>
            <tr>
              <th scope="col">Limit or headroom</th>
              <th scope="col" className="number">
                Before
              </th>
              <th scope="col" className="number">
                After
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ fund_id, of, before, after }) => (
              <tr key={`${fund_id} ${of}`}>
                <td>
                  <Theirs text={of} />
                </td>
                <td className="number">
                  <Theirs text={before} />
                </td>
                <td className="number">
                  <Theirs text={after} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** As ctl takes the same change. */
function flagWords({ field, after }: Pick<Diff["changes"][number], "field" | "after">): readonly string[] {
  const value = after === "" ? "off" : after;
  const [name = "", sector] = field.split(".");
  return sector === undefined ? [`--${name.replaceAll("_", "-")}`, value] : ["--sector-limit", `${sector}=${value}`];
}

function envelopeAsk(fundId: string, proposed: Proposed & { version: number }, diff: Diff): DangerAsk {
  return {
    title: `Set version ${proposed.version} of the envelope`,
    scope: `fund ${fundId}`,
    scopeId: fundId,
    facts: diff.changes.map(({ field, before, after, effect }) => `${effect}: ${field} from ${before} to ${after}`),
    reason: diff.loosens ? "required" : "optional",
    code: diff.loosens ? "maybe" : "none",
    command: shell`ctl riskengine envelope set --fund-id ${fundId} ${diff.changes.flatMap(flagWords)}`,
    run: audited({
      action: "envelope.updated",
      run: (typed, client) => setEnvelope(client, fundId, proposed, typed),
    }),
  };
}

async function setEnvelope(
  client: Client,
  fundId: string,
  proposed: Proposed & { version: number },
  { reason, code }: Typed,
): Promise<readonly string[]> {
  const asked = { ...proposed, ...(reason === "" ? {} : { reason }) };
  // The proof is of this very change: the server compares what it was given for.
  const proof =
    code === ""
      ? {}
      : {
          stepUpProof: (
            await client.stepUp({ action: "UpdateEnvelope", parameters: { fund_id: fundId, ...asked }, totp: code })
          ).proof,
        };
  const envelope = await client.updateEnvelope({ ...asArguments(fundId, asked), ...proof });
  return [
    `IN FORCE: version ${envelope.version} of ${envelope.fund_id}'s limits.`,
    `Hash ${envelope.hash ?? "not known"}`,
  ];
}
