// Text that somebody else wrote: cleaned, and apart from the sentence around it, so that it cannot turn that round.
import { clean } from "../../../contracts/src/text/clean.ts";
import type { FieldGroup } from "../../words/fields.ts";

export function Theirs({ text }: { readonly text: string | undefined }) {
  return <bdi>{clean(text ?? "")}</bdi>;
}

/** In a line of ours: where it begins and ends can be seen, whatever it says. */
export function Quoted({ text }: { readonly text: string | undefined }) {
  return <bdi className="quoted">{clean(text ?? "")}</bdi>;
}

/** Who, what, since and why, each by itself: they are never made into one sentence. */
export function Fields({ groups }: { readonly groups: readonly FieldGroup[] }) {
  return groups.map(({ title, fields }) => (
    <section key={title} className="fields" aria-label={title}>
      <h3>{title}</h3>
      <dl>
        {fields.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Theirs text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  ));
}
