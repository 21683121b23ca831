// The dashboard into dist/dashboard: files that need nothing but the server they come from. Addresses are relative, so that one
// build serves under any base path; what is large lies there compressed, so that the server never compresses.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { verb_words } from "../src/core/shown/verb_words.js";

const verb_words_file = fileURLToPath(new URL("../src/core/shown/verb_words.ts", import.meta.url));
const out_dir = fileURLToPath(new URL("../dist/dashboard", import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [react(), verbWords(), compressed()],
  build: {
    outDir: out_dir,
    emptyOutDir: true,
    assetsDir: "ui",
    // Data addresses would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
});

/** The table of words as plain data: the module that makes it would bring every schema of the API into the page. */
function verbWords(): Plugin {
  return {
    name: "fanfold-verb-words",
    enforce: "pre",
    load: (id) => (id === verb_words_file ? `export const verb_words = ${JSON.stringify(verb_words)};` : null),
  };
}

/** A file that is not smaller when compressed, or small anyway, is left alone. */
function compressed(): Plugin {
  let dir = "";
  return {
    name: "fanfold-compressed",
    apply: "build",
    configResolved({ build: { outDir, assetsDir } }) {
      dir = join(outDir, assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(dir).filter((one) => /\.(js|mjs|css|svg|json)$/.test(one))) {
        const text = readFileSync(join(dir, name));
        if (text.length < 1400) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(text, { params }));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(text, { level: 9 }));
      }
    },
  };
}
