import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT } from "./teams";

/** Checks a config with `upload_files`, for a question with these attachments. */
const check = (files: string, attached: readonly string[] = []) => {
  const source = `agent:\n  id: a\n  backend:\n    type: openai\n    upload_files: ${files}\n`;
  const { runnable, errors, refusals } = checkTeam(source, { ...FULL_CONTEXT, attached });
  return {
    runnable,
    errors,
    messages: refusals.map(
      ({ need, line, detail }) => `${need} ${line} ${/\((.*?)\)/.exec(detail)?.[1]}`,
    ),
  };
};

describe("files in upload_files", () => {
  it.each([
    { name: "an image", files: "[{image_path: img/a.png}]", attached: ["img/a.png"] },
    { name: "a file", files: "[{file_path: a.pdf}]", attached: ["a.pdf"] },
    { name: "a sound", files: "[{audio_path: a.wav}]", attached: ["a.wav"] },
    { name: "an entry that is only a name", files: "[a.pdf]", attached: ["a.pdf"] },
    {
      name: "several files, beside another attachment",
      files: "[{image_path: a.png}, {file_path: b.pdf}]",
      attached: ["x", "b.pdf", "a.png"],
    },
    { name: "an empty list", files: "[]", attached: [] },
  ])("are accepted if they are attached to the question: $name", ({ files, attached }) => {
    expect(check(files, attached)).toEqual({ runnable: true, errors: [], messages: [] });
  });

  it.each([
    { name: "no attachment", files: "[{image_path: a.png}]", attached: [], messages: "`a.png`" },
    {
      name: "another attachment",
      files: "[{image_path: a.png}]",
      attached: ["b.png"],
      messages: "`a.png`",
    },
    {
      name: "one of two attached",
      files: "[{image_path: a.png}, {file_path: b.pdf}]",
      attached: ["a.png"],
      messages: "`b.pdf`",
    },
    {
      name: "an address",
      files: "[{file_path: 'https://x.example/a.pdf'}]",
      attached: [],
      messages: "`https://x.example/a.pdf`",
    },
    {
      name: "a sound that is not attached",
      files: "[{audio_path: a.wav}]",
      attached: [],
      messages: "`a.wav`",
    },
    {
      name: "video, even if attached",
      files: "[{video_path: a.mp4}]",
      attached: ["a.mp4"],
      messages: "`a.mp4`",
    },
  ])("are refused if they are not attached: $name", ({ files, attached, messages }) => {
    expect(check(files, attached)).toEqual({
      runnable: false,
      errors: [],
      messages: [`upload_files 5 ${messages}`],
    });
  });
});
