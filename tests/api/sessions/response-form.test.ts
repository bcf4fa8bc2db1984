import { Hono } from "hono";
import { expect, it } from "vitest";
import { wantedForm } from "../../../src/api/sessions/streams";
import type { ApiEnv } from "../../../src/api/api-env";

/** The forms of a response if JSON is the default, and if the stream is. */
async function formsFor(accept: string | null): Promise<string[]> {
  const app = new Hono<ApiEnv>();
  app.get("/json", (context) => context.text(wantedForm(context, "json")));
  app.get("/stream", (context) => context.text(wantedForm(context, "stream")));
  const ask = async (path: string) =>
    (await app.request(path, accept === null ? {} : { headers: { accept } })).text();
  return [await ask("/json"), await ask("/stream")];
}

const AS_EVER = ["json", "stream"];
const JSON_EVERYWHERE = ["json", "json"];
const STREAM_EVERYWHERE = ["stream", "stream"];

it.each([
  { name: "nothing: each address returns its default form", accept: null, forms: AS_EVER },
  { name: "an empty header: the same", accept: "", forms: AS_EVER },
  { name: "anything: the same", accept: "*/*", forms: AS_EVER },
  { name: "something else: the same", accept: "text/html", forms: AS_EVER },
  { name: "JSON", accept: "application/json", forms: JSON_EVERYWHERE },
  {
    name: "JSON in capitals, with a parameter",
    accept: "Application/JSON; charset=utf-8",
    forms: JSON_EVERYWHERE,
  },
  { name: "the stream", accept: "text/event-stream", forms: STREAM_EVERYWHERE },
  {
    name: "both: the first",
    accept: "application/json, text/event-stream",
    forms: JSON_EVERYWHERE,
  },
  {
    name: "both the other way round: the first",
    accept: "text/event-stream, application/json",
    forms: STREAM_EVERYWHERE,
  },
  {
    name: "both, with weights: the one with the larger weight",
    accept: "application/json;q=0.5, text/event-stream",
    forms: STREAM_EVERYWHERE,
  },
  {
    name: "JSON rather than anything",
    accept: "*/*;q=0.1, application/json",
    forms: JSON_EVERYWHERE,
  },
  {
    name: "anything but JSON",
    accept: "text/event-stream, application/json;q=0",
    forms: STREAM_EVERYWHERE,
  },
])("the form of a response for a caller that accepts $name", async ({ accept, forms }) => {
  expect(await formsFor(accept)).toEqual(forms);
});
