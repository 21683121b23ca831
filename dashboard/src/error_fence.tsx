// A page that breaks does not take the others with it.
import { Component, type ReactNode } from "react";
import { Button } from "./ui/button.js";
import { ProblemNote } from "./ui/note.js";

export class ErrorFence extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="page stack">
        <ProblemNote error={this.state.error} title="This page could not be shown" />
        <div>
          <Button onClick={() => window.location.reload()}>Load it again</Button>
        </div>
      </div>
    );
  }
}
