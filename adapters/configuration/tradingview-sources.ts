// From which addresses the charting platform's alerts are taken.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { isAddressRange } from "./value-forms.ts";

const expected = "an address such as 52.89.214.238 or a range such as 10.0.0.0/24, not every address there is";

/** The platform's published ones. */
export const publishedAddresses = ["52.89.214.238", "34.212.75.30", "54.218.53.128", "52.32.178.7"];

export const sourceAddressesKey = key(
  z
    .array(key(z.string().refine(isAddressRange), { sentence: "An address or a range.", expected }))
    .max(256)
    .default(publishedAddresses),
  {
    sentence:
      "From which addresses alerts are taken, as `http.trusted_proxies` makes them known; nobody's when empty. In the environment a comma-separated list.",
    environment: "PORTCULLIS_TRADINGVIEW_ADDRESSES",
    expected: `a list of which each is ${expected}`,
  },
);
