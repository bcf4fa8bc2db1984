import { describe, expect, it } from "vitest";
import { UNKNOWN_HOST } from "../../src/providers/hosts";
import { toTurns } from "../../src/providers/anthropic/turns";
import { toContents } from "../../src/providers/gemini/contents";
import { toBody } from "../../src/providers/openai-chat/request";
import { toInput } from "../../src/providers/openai-responses/input";
import type { Message } from "../../src/providers/provider";
import { BARE_REQUEST } from "./bare-request";

const pdfQuestion = (name: string): Message => ({
  role: "user",
  text: "What is it?",
  parts: [{ type: "pdf", name, base64: "JVBERi0=" }],
});

const FORMATS = [
  {
    format: "Chat Completions",
    sent: (name: string) =>
      toBody({ ...BARE_REQUEST, messages: [pdfQuestion(name)] }, UNKNOWN_HOST),
  },
  { format: "Responses", sent: (name: string) => toInput([pdfQuestion(name)]) },
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

const audioQuestion = (mediaType: string): Message[] => [
  { role: "user", text: "What is said?", parts: [{ type: "audio", mediaType, base64: "AAAA" }] },
];

describe("audio is sent in the format's own form", () => {
  it.each([
    { mediaType: "audio/wav", format: "wav" },
    { mediaType: "audio/mpeg", format: "mp3" },
  ])("in Chat Completions $mediaType is $format, before the text", ({ mediaType, format }) => {
    const { messages } = toBody(
      { ...BARE_REQUEST, system: "", messages: audioQuestion(mediaType) },
      UNKNOWN_HOST,
    );
    const sound = { type: "input_audio", input_audio: { data: "AAAA", format } };
    expect(messages).toEqual([
      { role: "user", content: [sound, { type: "text", text: "What is said?" }] },
    ]);
  });

  it.each([
    { mediaType: "audio/wav", wireType: "audio/wav" },
    { mediaType: "audio/mpeg", wireType: "audio/mp3" },
    { mediaType: "audio/ogg", wireType: "audio/ogg" },
    { mediaType: "audio/flac", wireType: "audio/flac" },
  ])("to Gemini, $mediaType is sent as $wireType", ({ mediaType, wireType }) => {
    const sound = { inlineData: { mimeType: wireType, data: "AAAA" } };
    expect(toContents(audioQuestion(mediaType))).toEqual([
      { role: "user", parts: [sound, { text: "What is said?" }] },
    ]);
  });

  it.each([
    { name: "Responses", convert: () => toInput(audioQuestion("audio/wav")) },
    {
      name: "Messages",
      convert: () => toTurns({ messages: audioQuestion("audio/wav"), hostedTools: [] }),
    },
  ])("$name cannot carry audio, and the conversion fails", ({ convert }) =>
    expect(convert).toThrow("no part for audio"),
  );
});
