import { expect, it } from "vitest";
import { UNKNOWN_HOST } from "../../src/providers/hosts";
import { toBody } from "../../src/providers/openai-chat/request";
import { toInput } from "../../src/providers/openai-responses/input";
import type { Message } from "../../src/providers/provider";
import { BARE_REQUEST } from "./bare-request";

const asking = (name: string): Message => ({
  role: "user",
  text: "What is it?",
  parts: [{ type: "pdf", name, base64: "JVBERi0=" }],
});

const FORMATS = [
  { format: "Chat Completions", sent: (name: string) => toBody({ ...BARE_REQUEST, messages: [asking(name)] }, UNKNOWN_HOST) },
  { format: "Responses", sent: (name: string) => toInput([asking(name)]) },
];

it.each(
  FORMATS.flatMap((one) =>
    [
      { name: "report.pdf", filename: "report.pdf" },
      { name: "REPORT.PDF", filename: "REPORT.PDF" },
      { name: "pdf 1", filename: "pdf 1.pdf" },
      { name: "docs/2026/report", filename: "report.pdf" },
      { name: "C:\\docs\\report.pdf", filename: "report.pdf" },
      { name: "docs/", filename: "docs.pdf" },
      { name: "/", filename: "file.pdf" },
    ].map((row) => ({ ...one, ...row })),
  ),
)("in $format a PDF called $name is sent as $filename", ({ sent, name, filename }) => {
  expect(JSON.stringify(sent(name))).toContain(`"filename":${JSON.stringify(filename)}`);
});
