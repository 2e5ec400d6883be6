import { CatalogueError, type ErrorCode, type Fault, type FaultCode } from '../../../domain/errors.js';

export function parameterFault(
  where: 'query' | 'header',
  name: string,
  code: FaultCode,
  message: string,
): Fault {
  return { code, message, in: where, name };
}

/** @param faults each with the code that the answer has where all faults agree on it */
export function invalidParameters(faults: readonly (readonly [ErrorCode, Fault])[]): CatalogueError {
  const codes = new Set(faults.map(([code]) => code));
  const [code = 'invalid_parameter'] = codes.size === 1 ? codes : [];
  const details = faults.map(([, fault]) => fault);
  return new CatalogueError(code, details.map(({ message }) => message).join(' '), details);
}

export function invalidHeader(name: string, code: FaultCode, message: string): CatalogueError {
  return invalidParameters([['invalid_parameter', parameterFault('header', name, code, message)]]);
}
