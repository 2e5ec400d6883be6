import { CatalogueError, type ErrorCode, type Fault, type FaultCode } from '../../../domain/errors.js';

export function parameterFault(
  where: 'query' | 'header',
  name: string,
  code: FaultCode,
  message: string,
): Fault {
  return { code, message, in: where, name };
}

export function invalidParameters(faults: readonly Fault[]): CatalogueError {
  const unknownOnly = faults.every(({ code }) => code === 'unknown_parameter');
  const code: ErrorCode = unknownOnly ? 'unknown_parameter' : 'invalid_parameter';
  return new CatalogueError(code, faults.map(({ message }) => message).join(' '), faults);
}

export function invalidHeader(name: string, code: FaultCode, message: string): CatalogueError {
  return invalidParameters([parameterFault('header', name, code, message)]);
}
