// Reads who a person is from a secret: `{"country":"FR","national_id":"FR19700101…","scheme":"NIDN|CCPT|CONCAT"}`. What is wrong with it is said without what it holds.
import { z } from "zod";
import type { FiledPerson } from "../regime.ts";

const person = z.strictObject({
  country: z.string().regex(/^[A-Z]{2}$/),
  national_id: z
    .string()
    .regex(
      /^(([A-Z]{2}[A-Z0-9]{1,33})|([A-Z]{2}[0-9]{8}[A-Z][A-Z#]{4}[A-Z][A-Z#]{4})|(FI[A-Z0-9+-]{1,33})|(LV[A-Z0-9-]{1,33}))$/,
    ),
  scheme: z.enum(["NIDN", "CCPT", "CONCAT"]),
});

export function readPerson(secret: string): FiledPerson | { readonly wrong: string } {
  let content: unknown;
  try {
    content = JSON.parse(secret);
  } catch {
    return { wrong: "It is no JSON." };
  }
  const { data, error } = person.safeParse(content);
  if (data === undefined) {
    const field = error?.issues[0]?.path.join(".") ?? "";
    return {
      wrong: field === "" ? "It has other members than country, national_id and scheme." : `Its ${field} is none.`,
    };
  }
  return { country: data.country, nationalId: data.national_id, scheme: data.scheme };
}
