// The frame of a page's content.
import { Fragment, type ReactNode, useEffect } from "react";
import { Link } from "wouter";

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Fanfold" : `${title} · Fanfold`;
  }, [title]);
}

export interface Crumb {
  href: string;
  text: string;
}

interface PageProps {
  title: string;
  heading?: ReactNode;
  crumbs?: readonly Crumb[];
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, heading, crumbs = [], actions, children }: PageProps) {
  useDocumentTitle(title);
  return (
    <div className="page">
      {crumbs.length > 0 && (
        <nav className="crumbs" aria-label="Where this is">
          {crumbs.map(({ href, text }) => (
            <Fragment key={href}>
              <Link href={href}>{text}</Link>
              <span aria-hidden="true"> / </span>
            </Fragment>
          ))}
        </nav>
      )}
      <header className="page-head">
        <h1>{heading ?? title}</h1>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}

export function Card({ title, actions, children, className }: CardProps) {
  return (
    <section className={className === undefined ? "card" : `card ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <header className="row">
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div className="ends row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

export function Tabs<T extends string>({
  tabs,
  current,
  label,
}: {
  tabs: readonly { id: T; text: ReactNode; href: string }[];
  current: T;
  label: string;
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ id, text, href }) => (
        <Link
          key={id}
          href={href}
          className={id === current ? "tab current" : "tab"}
          aria-current={id === current ? "page" : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}
