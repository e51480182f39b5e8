// The section `research` of the configuration: how often strategies decide.
import { key } from "../key-facts.ts";
import { section, whole } from "../key-forms.ts";

export const research = section({
  decide_every_s: key(whole(1, 3_600).default(15), {
    sentence: "How often every strategy of the paper platform decides, on average, in seconds.",
    environment: "PORTCULLIS_RESEARCH_DECIDE_EVERY_S",
  }),
});
