// The fix of a code as docs/webhook.md has it: what stands between backticks is code.
import { Fragment } from "react";
import { Theirs } from "../panels/theirs.tsx";

export function FixText({ text }: { readonly text: string }) {
  return text.split("`").map((part, place) => (
    // Parts repeat; their place is what they are.
    // biome-ignore lint/suspicious/noArrayIndexKey: the place is the identity
    <Fragment key={place}>
      {place % 2 === 1 ? (
        <code>
          <Theirs text={part} />
        </code>
      ) : (
        <Theirs text={part} />
      )}
    </Fragment>
  ));
}
