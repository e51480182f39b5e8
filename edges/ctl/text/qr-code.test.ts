// The QR code on a terminal: every module where the encoder put it, in both ways of drawing.
import { encode } from "uqr";
import { expect, it } from "vitest";
import { qrLines } from "./qr-code.ts";

it.each([true, false])("draws every module, coloured %j", (coloured) => {
  const code = encode("otpauth://totp/Portcullis:duty?secret=JBSWY3DPEHPK3PXP&issuer=Portcullis");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are taken away
  const colours = /\u001b\[[0-9;]*m/g;
  const lines = qrLines(code, coloured).replaceAll(colours, "").split("\n");
  const drawn = Array.from({ length: code.size }, (_row, row) =>
    [...(lines[Math.floor(row / 2)] ?? "")].map((glyph) => {
      const isInk = (row % 2 === 0 ? "█▀" : "█▄").includes(glyph);
      return isInk === coloured;
    }),
  );
  expect(drawn).toEqual(code.data);
});
