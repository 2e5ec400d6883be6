import type Database from 'libsql';
import { toCoreError } from './errors.js';

export type Statement = Database.Statement<unknown[]>;

/** So many stay prepared: clients' queries make more different ones than a memory should hold. */
const MAX_STATEMENTS = 200;

export interface Reader {
  /** Runs a statement that changes nothing. */
  read<Result>(sql: string, use: (statement: Statement) => Result): Result;
}

/** Reads over one connection, with statements that stay prepared. */
export class StatementCache implements Reader {
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly connection: Database.Database) {}

  read<Result>(sql: string, use: (statement: Statement) => Result): Result {
    try {
      return use(this.statement(sql));
    } catch (error) {
      throw toCoreError(error);
    }
  }

  statement(sql: string): Statement {
    const { statements } = this;
    const statement = statements.get(sql) ?? this.connection.prepare(sql);
    // To the end of the line: those that were not used for longest stand first.
    statements.delete(sql);
    statements.set(sql, statement);
    if (statements.size > MAX_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
    return statement;
  }
}
