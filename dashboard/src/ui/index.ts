// All that pages are built of.
export { announce } from "./announce.js";
export { Button, IconButton } from "./button.js";
export { CliAndCurl, CommandLine, Copy, copyText } from "./command.js";
export { Dialog } from "./dialog.js";
export { Checkbox, Field, Input, Select, TextArea } from "./form.js";
export { JobLink } from "./job_link.js";
export { DownloadLink, download, Json, JsonOf } from "./json.js";
export { useKeys } from "./keys.js";
export { More, Turn } from "./more.js";
export { Empty, FirstRead, ProblemNote, Skeleton } from "./note.js";
export { Card, type Crumb, Page, Tabs, useDocumentTitle } from "./page.js";
export { SecretOnce } from "./secret.js";
export { Segments } from "./segments.js";
export { type BarPart, ShapeIcon, Sparkline, StackedBar, StatusBadge } from "./status.js";
export { type Column, Table } from "./table.js";
export { absoluteTime, Count, Duration, durationText, relativeTime, Safe, Time, useNow } from "./text.js";
export { VerbDialog } from "./verb_dialog.js";
