import { GEMINI } from "../gemini-wire";
import { describeBrokenArguments } from "./broken-arguments";
import { describeMutatedStreams } from "./mutated-streams";
import { GEMINI_MARKS } from "./oracle";
import { describeSilence } from "./silence";

describeMutatedStreams({ wire: GEMINI, marks: GEMINI_MARKS });
describeBrokenArguments(GEMINI);
describeSilence(GEMINI);
