// A job of one's own: counts the words of several texts, each in a task, and adds them up.
// Run it from this folder:
//   fanfold submit word_count 'texts=["to be or not to be", "that is the question"]' --wait
import { defineHandler, defineJob } from "fanfold";
import { z } from "zod";

const countWords = defineHandler("words.count", { parameters: z.object({ text: z.string() }) }, async ({ text }) => {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return { words: words.length };
});

const addUp = defineHandler("words.add_up", {}, async (_parameters, ctx) => {
  let words = 0;
  let texts = 0;
  for await (const { result } of ctx.previous) {
    words += result.words;
    texts += 1;
  }
  return { texts, words };
});

const wordCount = defineJob({
  type: "word_count",
  description: "How many words several texts have together",
  parameters: z.object({ texts: z.array(z.string()).min(1) }),
  stages: [
    // A plan as data: one task per text. {item} is the text itself, {ordinal} its number.
    {
      name: "count",
      task: "words.count",
      tasks: { each: "$.texts[*]", index: "text-{ordinal}", parameters: { text: "{item}" } },
    },
    { name: "total", task: "words.add_up", parallelism: "fan_in" },
  ],
});

export default { jobs: [wordCount], handlers: [countWords, addUp] };
