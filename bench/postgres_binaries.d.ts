export interface User {
  uid?: number;
  gid?: number;
}

/** `folder`: where a copy may lie. `npm_only`: also where the machine has its own. */
export declare function findBinaries(folder: string, user: User, npm_only?: boolean): string;
export declare function unprivilegedUser(): User;
export declare function own(path: string, user: User): void;
export declare function freePort(): Promise<number>;
