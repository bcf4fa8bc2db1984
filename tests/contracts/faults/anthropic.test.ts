import { ANTHROPIC } from "../anthropic-wire";
import { describeBrokenArguments } from "./broken-arguments";
import { describeMutatedStreams } from "./mutated-streams";
import { MESSAGES_MARKS } from "./oracle";
import { describeSilence } from "./silence";

describeMutatedStreams({ wire: ANTHROPIC, marks: MESSAGES_MARKS });
describeBrokenArguments(ANTHROPIC);
describeSilence(ANTHROPIC);
